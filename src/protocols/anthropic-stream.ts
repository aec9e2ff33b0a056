import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { addUsage, finishReasonOf, messageFields, tokenCounts } from './anthropic-reply.ts'
import { thinkingBlock } from './anthropic-thinking.ts'
import { chunkWriter, newId, toolCall } from './chat-reply.ts'
import type { ChunkWriter, ReplyHead } from './chat-reply.ts'
import { numberOf, objectOf, objectsOf, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/** Turns the events of one Messages stream, already parsed and no errors, into chunks. */
export interface AnthropicStream {
  /** `'done'` for `message_stop`. Events it does not know carry nothing. */
  read(event: JsonObject): readonly ChatChunk[] | 'done'
}

/** A content block that has begun and not ended. */
type OpenBlock =
  | { readonly kind: 'tool'; readonly position: number; readonly input: JsonObject; hasArguments: boolean }
  | { readonly kind: 'thinking'; readonly begun: JsonObject; thinking: string; signature: string }

/**
 * Begins the reading of a Messages stream (https://platform.claude.com/docs/en/build-with-claude/streaming). A second
 * `message_start` only brings newer usage. Usage follows the finish at once, since the end marker cannot bring chunks.
 */
export function anthropicStream({
  model: asked,
  includeUsage,
}: Pick<ChatRequest, 'model' | 'includeUsage'>): AnthropicStream {
  const open = new Map<unknown, OpenBlock>()
  let writer: ChunkWriter | undefined
  let usage: JsonObject | undefined
  let toolCount = 0
  let isFinished = false

  /** The role chunk, once, before anything else. */
  function begin(head?: ReplyHead): { readonly writer: ChunkWriter; readonly opening: readonly ChatChunk[] } {
    if (writer !== undefined) return { writer, opening: [] }
    writer = chunkWriter(head ?? { id: newId('chatcmpl'), model: asked }, includeUsage)
    return { writer, opening: [writer.delta({ role: 'assistant', content: '' })] }
  }

  function startMessage(message: JsonObject): readonly ChatChunk[] {
    usage = addUsage(usage, message['usage'])
    if (writer !== undefined) return []
    const { writer: chunks, opening } = begin({
      id: textOf(message['id']) ?? newId('chatcmpl'),
      model: textOf(message['model']) ?? asked,
    })
    // After tools that ran at Anthropic, the message may begin with whole blocks in it, and even ended.
    const { tool_calls = [], content = '', ...fields } = messageFields(objectsOf(message['content']))
    const calls = tool_calls.map((call) => ({ index: toolCount++, ...call }))
    const isPrefilled = content !== '' || calls.length > 0 || Object.keys(fields).length > 0
    const prefilled = isPrefilled
      ? [chunks.delta({ content, ...fields, ...(calls.length === 0 ? {} : { tool_calls: calls }) })]
      : []
    return [...opening, ...prefilled, ...finish(message['stop_reason'])]
  }

  function startBlock(key: unknown, block: JsonObject): readonly ChatChunk[] {
    const { writer: chunks, opening } = begin()
    switch (block['type']) {
      case 'text': {
        const content = textOf(block['text']) ?? ''
        return content === '' ? opening : [...opening, chunks.delta({ content })]
      }
      case 'thinking':
      case 'redacted_thinking': {
        const thinking = textOf(block['thinking']) ?? ''
        open.set(key, { kind: 'thinking', begun: block, thinking, signature: textOf(block['signature']) ?? '' })
        return thinking === '' ? opening : [...opening, chunks.delta({ reasoning_content: thinking })]
      }
      case 'tool_use': {
        const position = toolCount++
        open.set(key, { kind: 'tool', position, input: objectOf(block['input']), hasArguments: false })
        const call = toolCall(textOf(block['id']) ?? newId('call'), textOf(block['name']) ?? '', '')
        return [...opening, chunks.delta({ tool_calls: [{ index: position, ...call }] })]
      }
      default:
        return opening
    }
  }

  function continueBlock(key: unknown, delta: JsonObject): readonly ChatChunk[] {
    const { writer: chunks, opening } = begin()
    const block = open.get(key)
    switch (delta['type']) {
      case 'text_delta': {
        const content = textOf(delta['text']) ?? ''
        return content === '' ? opening : [...opening, chunks.delta({ content })]
      }
      case 'thinking_delta': {
        const thinking = textOf(delta['thinking']) ?? ''
        if (block?.kind === 'thinking') block.thinking += thinking
        return thinking === '' ? opening : [...opening, chunks.delta({ reasoning_content: thinking })]
      }
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += textOf(delta['signature']) ?? ''
        return opening
      case 'input_json_delta': {
        const piece = textOf(delta['partial_json']) ?? ''
        if (block?.kind !== 'tool' || piece === '') return opening
        block.hasArguments = true
        return [...opening, chunks.delta({ tool_calls: [argumentsOf(block.position, piece)] })]
      }
      default:
        return opening
    }
  }

  function endBlock(key: unknown): readonly ChatChunk[] {
    const block = open.get(key)
    open.delete(key)
    if (block === undefined || writer === undefined) return []
    if (block.kind === 'tool') {
      return block.hasArguments
        ? []
        : [writer.delta({ tool_calls: [argumentsOf(block.position, JSON.stringify(block.input))] })]
    }
    const whole = thinkingBlock({ ...block.begun, thinking: block.thinking, signature: block.signature })
    return whole === undefined ? [] : [writer.delta({ thinking_blocks: [whole] })]
  }

  function finish(stopReason: unknown): readonly ChatChunk[] {
    if (typeof stopReason !== 'string' || isFinished) return []
    const { writer: chunks, opening } = begin()
    isFinished = true
    const closing = [...open.keys()].flatMap(endBlock)
    return [...opening, ...closing, ...chunks.finish(finishReasonOf(stopReason), usage && tokenCounts(usage))]
  }

  return {
    read(event) {
      switch (event['type']) {
        case 'message_start':
          return startMessage(objectOf(event['message']))
        case 'content_block_start':
          return startBlock(numberOf(event['index']), objectOf(event['content_block']))
        case 'content_block_delta':
          return continueBlock(numberOf(event['index']), objectOf(event['delta']))
        case 'content_block_stop':
          return endBlock(numberOf(event['index']))
        case 'message_delta':
          usage = addUsage(usage, event['usage'])
          return finish(objectOf(event['delta'])['stop_reason'])
        case 'message_stop':
          return 'done'
        default:
          return []
      }
    },
  }
}

function argumentsOf(index: number, piece: string): JsonObject {
  return { index, function: { arguments: piece } }
}

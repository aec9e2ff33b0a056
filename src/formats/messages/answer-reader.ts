import type { JsonObject } from '../../base/json-value.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type { AnswerEvent, FinishEvent, UsageEvent } from '../answer.ts'
import { numberOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import type { JsonAnswerReader } from '../json-answers.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readThinkingBlock } from '../thinking-block.ts'
import { addUsage, countsOf } from './message-usage.ts'
import { readStopReason, soundReason } from './stop-reason.ts'

const choice = 0

/**
 * Reads a whole Message (https://platform.claude.com/docs/en/api/messages).
 *
 * @throws {UpstreamFailure} `malformed` when it has no content
 */
export function readMessagesAnswer(message: JsonObject): readonly AnswerEvent[] {
  if (!Array.isArray(message['content'])) {
    throw new UpstreamFailure('malformed', 'the answer has no content', { status: 200 })
  }
  return [
    readStart(message),
    ...readBlocks(objectsOf(message['content'])),
    readFinish(textOf(message['stop_reason']), objectsOf(message['content']).some(isCall)),
    ...readUsage(addUsage(undefined, message['usage'])),
  ]
}

/** A content block that has not ended. */
type OpenBlock =
  | { readonly kind: 'other' }
  | { readonly kind: 'call'; readonly call: number; readonly input: JsonObject; hasArguments: boolean }
  | { readonly kind: 'reasoning'; readonly begun: JsonObject; thinking: string; signature: string }

/**
 * Starts reading a Messages stream (https://platform.claude.com/docs/en/build-with-claude/streaming). A second
 * `message_start` only updates usage. Usage comes with the finish.
 */
export function messagesAnswerReader(): JsonAnswerReader {
  const open = new Map<unknown, OpenBlock>()
  let hasStarted = false
  let isFinished = false
  let callCount = 0
  let usage: JsonObject | undefined

  /** Puts a `start` before the first events. */
  function begun(events: readonly AnswerEvent[], message: JsonObject = {}): readonly AnswerEvent[] {
    if (hasStarted) return events
    hasStarted = true
    return [readStart(message), ...events]
  }

  function startMessage(message: JsonObject): readonly AnswerEvent[] {
    usage = addUsage(usage, message['usage'])
    if (hasStarted) return []
    const opening = begun([], message)
    // After tools that ran at Anthropic, the first event may have whole blocks, and even the end.
    const blocks = readBlocks(objectsOf(message['content']))
    callCount = blocks.filter(({ kind }) => kind === 'call').length
    const prefilled: readonly AnswerEvent[] = blocks.length === 0 ? [] : [{ kind: 'text', choice, text: '' }, ...blocks]
    return [...opening, ...prefilled, ...finish(message['stop_reason'])]
  }

  /** Starts a block. An open block with the same index ends. */
  function startBlock(key: unknown, block: JsonObject): readonly AnswerEvent[] {
    const before = endBlock(key)
    open.set(key, { kind: 'other' })
    switch (block['type']) {
      case 'text':
        return begun([...before, ...readText('text', block['text']).flatMap(withOpening)])
      case 'thinking':
      case 'redacted_thinking': {
        const thinking = textOf(block['thinking']) ?? ''
        open.set(key, { kind: 'reasoning', begun: block, thinking, signature: textOf(block['signature']) ?? '' })
        return begun([...before, ...readText('reasoning', thinking)])
      }
      case 'tool_use': {
        const call = callCount++
        open.set(key, { kind: 'call', call, input: objectOf(block['input']), hasArguments: false })
        return begun([...before, readCall(call, block)])
      }
      default:
        return begun(before)
    }
  }

  function continueBlock(key: unknown, delta: JsonObject): readonly AnswerEvent[] {
    switch (delta['type']) {
      case 'text_delta':
        return begun(readText('text', delta['text']))
      case 'thinking_delta': {
        const block = open.get(key)
        if (block?.kind === 'reasoning') block.thinking += textOf(delta['thinking']) ?? ''
        return begun(readText('reasoning', delta['thinking']))
      }
      case 'signature_delta': {
        const block = open.get(key)
        if (block?.kind === 'reasoning') block.signature += textOf(delta['signature']) ?? ''
        return begun([])
      }
      case 'input_json_delta': {
        const block = open.get(key)
        const text = textOf(delta['partial_json']) ?? ''
        if (block === undefined) throw new MalformedAnswer('malformed', 'a delta belongs to no block')
        if (block.kind !== 'call' || text === '') return begun([])
        block.hasArguments = true
        return begun([{ kind: 'arguments', choice, call: block.call, text }])
      }
      default:
        return begun([])
    }
  }

  function endBlock(key: unknown): readonly AnswerEvent[] {
    const block = open.get(key)
    open.delete(key)
    if (block === undefined || block.kind === 'other') return []
    if (block.kind === 'reasoning') {
      return readSeal({ ...block.begun, thinking: block.thinking, signature: block.signature })
    }
    const end: AnswerEvent = { kind: 'callEnd', choice, call: block.call }
    if (block.hasArguments) return [end]
    return [{ kind: 'arguments', choice, call: block.call, text: JSON.stringify(block.input) }, end]
  }

  function finish(stopReason: unknown): readonly AnswerEvent[] {
    if (typeof stopReason !== 'string' || isFinished) return []
    isFinished = true
    return begun([...[...open.keys()].flatMap(endBlock), readFinish(stopReason, callCount > 0), ...readUsage(usage)])
  }

  return {
    end: () => finish(callCount > 0 ? 'tool_use' : 'end_turn'),
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

function readStart(message: JsonObject): AnswerEvent {
  return { kind: 'start', id: textOf(message['id']), model: textOf(message['model']), created: undefined }
}

/** Reads whole blocks. Those of tools that ran at Anthropic are left out. */
function readBlocks(blocks: readonly JsonObject[]): readonly AnswerEvent[] {
  let callCount = 0
  return blocks.flatMap((block): readonly AnswerEvent[] => {
    switch (block['type']) {
      case 'text':
        return readText('text', block['text'])
      case 'thinking':
      case 'redacted_thinking':
        return [...readText('reasoning', block['thinking']), ...readSeal(block)]
      case 'tool_use': {
        const call = callCount++
        const text = JSON.stringify(objectOf(block['input']))
        return [readCall(call, block), { kind: 'arguments', choice, call, text }, { kind: 'callEnd', choice, call }]
      }
      default:
        return []
    }
  })
}

function readText(kind: 'text' | 'reasoning', value: unknown): readonly AnswerEvent[] {
  return typeof value !== 'string' || value === '' ? [] : [{ kind, choice, text: value }]
}

/** Two events for one, since an event with text alone would be taken for a delta. */
function withOpening(event: AnswerEvent): readonly AnswerEvent[] {
  return [{ kind: 'text', choice, text: '' }, event]
}

function readSeal(block: JsonObject): readonly AnswerEvent[] {
  const sealed = readThinkingBlock(block)
  return sealed === undefined ? [] : [{ kind: 'sealed', choice, ...sealed }]
}

function readCall(call: number, block: JsonObject): AnswerEvent {
  return {
    kind: 'call',
    choice,
    call,
    id: textOf(block['id']) || undefined,
    name: textOf(block['name']) ?? '',
    opaque: undefined,
  }
}

function isCall({ type }: JsonObject): boolean {
  return type === 'tool_use'
}

function readFinish(given: string | undefined, hasCalls: boolean): FinishEvent {
  const stopReason = soundReason(given, hasCalls)
  return { kind: 'finish', choice, reason: readStopReason(stopReason), raw: stopReason }
}

function readUsage(usage: JsonObject | undefined): readonly UsageEvent[] {
  return usage === undefined ? [] : [{ kind: 'usage', counts: countsOf(usage), own: undefined }]
}

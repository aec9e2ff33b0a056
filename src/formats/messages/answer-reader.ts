import type { JsonObject } from '../../base/json-value.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type { AnswerEvent, FinishEvent, UsageEvent } from '../answer.ts'
import { numberOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import type { JsonAnswerReader } from '../json-answers.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readThinkingBlock } from '../thinking-block.ts'
import { addUsage, countsOf, readStopReason, soundReason } from './message-usage.ts'

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
  return new MessagesAnswer()
}

class MessagesAnswer implements JsonAnswerReader {
  readonly #open = new Map<unknown, OpenBlock>()
  #hasStarted = false
  #isFinished = false
  #callCount = 0
  #usage: JsonObject | undefined

  end(): readonly AnswerEvent[] {
    return this.#finish(this.#callCount > 0 ? 'tool_use' : 'end_turn')
  }

  read(event: Readonly<Record<string, unknown>>): readonly AnswerEvent[] | 'done' {
    switch (event['type']) {
      case 'message_start':
        return this.#startMessage(objectOf(event['message']))
      case 'content_block_start':
        return this.#startBlock(numberOf(event['index']), objectOf(event['content_block']))
      case 'content_block_delta':
        return this.#continueBlock(numberOf(event['index']), objectOf(event['delta']))
      case 'content_block_stop':
        return this.#endBlock(numberOf(event['index']))
      case 'message_delta':
        this.#usage = addUsage(this.#usage, event['usage'])
        return this.#finish(objectOf(event['delta'])['stop_reason'])
      case 'message_stop':
        return 'done'
      default:
        return []
    }
  }

  /** Puts a `start` before the first events. */
  #begun(events: readonly AnswerEvent[], message: JsonObject = {}): readonly AnswerEvent[] {
    if (this.#hasStarted) return events
    this.#hasStarted = true
    return [readStart(message), ...events]
  }

  #startMessage(message: JsonObject): readonly AnswerEvent[] {
    this.#usage = addUsage(this.#usage, message['usage'])
    if (this.#hasStarted) return []
    const opening = this.#begun([], message)
    // After tools that ran at Anthropic, the first event may have whole blocks, and even the end.
    const blocks = readBlocks(objectsOf(message['content']))
    this.#callCount = blocks.filter(({ kind }) => kind === 'call').length
    const prefilled: readonly AnswerEvent[] = blocks.length === 0 ? [] : [{ kind: 'text', choice, text: '' }, ...blocks]
    return [...opening, ...prefilled, ...this.#finish(message['stop_reason'])]
  }

  /** Starts a block. An open block with the same index ends. */
  #startBlock(key: unknown, block: JsonObject): readonly AnswerEvent[] {
    const before = this.#endBlock(key)
    this.#open.set(key, { kind: 'other' })
    switch (block['type']) {
      case 'text':
        return this.#begun([...before, ...readText('text', block['text']).flatMap(withOpening)])
      case 'thinking':
      case 'redacted_thinking': {
        const thinking = textOf(block['thinking']) ?? ''
        this.#open.set(key, { kind: 'reasoning', begun: block, thinking, signature: textOf(block['signature']) ?? '' })
        return this.#begun([...before, ...readText('reasoning', thinking)])
      }
      case 'tool_use': {
        const call = this.#callCount++
        this.#open.set(key, { kind: 'call', call, input: objectOf(block['input']), hasArguments: false })
        return this.#begun([...before, readCall(call, block)])
      }
      default:
        return this.#begun(before)
    }
  }

  #continueBlock(key: unknown, delta: JsonObject): readonly AnswerEvent[] {
    switch (delta['type']) {
      case 'text_delta':
        return this.#begun(readText('text', delta['text']))
      case 'thinking_delta': {
        const block = this.#open.get(key)
        if (block?.kind === 'reasoning') block.thinking += textOf(delta['thinking']) ?? ''
        return this.#begun(readText('reasoning', delta['thinking']))
      }
      case 'signature_delta': {
        const block = this.#open.get(key)
        if (block?.kind === 'reasoning') block.signature += textOf(delta['signature']) ?? ''
        return this.#begun([])
      }
      case 'input_json_delta': {
        const block = this.#open.get(key)
        const text = textOf(delta['partial_json']) ?? ''
        if (block === undefined) throw new MalformedAnswer('malformed', 'a delta belongs to no block')
        if (block.kind !== 'call' || text === '') return this.#begun([])
        block.hasArguments = true
        return this.#begun([{ kind: 'arguments', choice, call: block.call, text }])
      }
      default:
        return this.#begun([])
    }
  }

  #endBlock(key: unknown): readonly AnswerEvent[] {
    const block = this.#open.get(key)
    this.#open.delete(key)
    if (block === undefined || block.kind === 'other') return []
    if (block.kind === 'reasoning') {
      return readSeal({ ...block.begun, thinking: block.thinking, signature: block.signature })
    }
    const end: AnswerEvent = { kind: 'callEnd', choice, call: block.call }
    if (block.hasArguments) return [end]
    return [{ kind: 'arguments', choice, call: block.call, text: JSON.stringify(block.input) }, end]
  }

  #finish(stopReason: unknown): readonly AnswerEvent[] {
    if (typeof stopReason !== 'string' || this.#isFinished) return []
    this.#isFinished = true
    return this.#begun([
      ...[...this.#open.keys()].flatMap((index) => this.#endBlock(index)),
      readFinish(stopReason, this.#callCount > 0),
      ...readUsage(this.#usage),
    ])
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

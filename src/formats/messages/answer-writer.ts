import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type {
  AnswerEvent,
  ArgumentsEvent,
  CallEndEvent,
  CallEvent,
  FinishEvent,
  StartEvent,
  TokenCounts,
} from '../answer.ts'
import type { Sealed } from '../conversation.ts'
import { encodeJson } from '../exact-json.ts'
import type { PartWriter } from '../format.ts'
import { jsonEnd, type JsonEnd } from '../json-end.ts'
import { madeUpId } from '../made-up-id.ts'
import { emptyPart, hiddenThought, type Part } from '../part.ts'
import type { WholeReply } from '../reply.ts'
import { writeThinkingBlock } from '../thinking-block.ts'
import { countedUsage } from '../usage.ts'
import { gatheredMessage } from './gathered-message.ts'
import { messagePart } from './make-part.ts'
import { writeMessagesUsage, writeStopReason } from './message-usage.ts'

/** Content that waits for the end of an open call. */
const waitingCharactersMax = 1024 * 1024

/** Facts of a request that its answer needs. */
export interface WriterOptions {
  /** The model's name if the answer has none. */
  readonly model: string
  /** Estimated tokens of the request, for an upstream that counts none. */
  readonly promptTokens: () => number
}

/** Writes a whole answer. */
export function writeMessage(events: readonly AnswerEvent[], options: WriterOptions): WholeReply {
  const message = gatheredMessage()
  const writer = eventWriter(options, message.add)
  const written = [...writer.write(events), ...writer.end()]
  const isBlank = written.every(({ text, isBeyondText }) => text === '' && !isBeyondText)
  return {
    kind: 'whole',
    body: encodeJson(message.finish()),
    usage: written.findLast(({ usage }) => usage !== undefined)?.usage,
    isEmpty: isBlank && written.every(({ finishReason }) => finishReason === undefined || finishReason === 'stop'),
    isBlank,
  }
}

/** Starts writing a stream. */
export function messageWriter(options: WriterOptions): PartWriter {
  return eventWriter(options)
}

/** Content of one block, in the order of the answer. */
interface Block {
  readonly kind: 'text' | 'thinking' | 'call'
  readonly start: JsonObject
  /** Number of its call. */
  readonly call?: number
  /** Text or arguments that are not written yet. */
  waiting: string
  /** Of the arguments of a call. */
  readonly json: JsonEnd | undefined
  /** The arguments are no object: they are left out, since an input must be one. */
  isNoObject?: boolean
  isComplete: boolean
}

/**
 * Writes the events of Messages. One block is open at a time: content that comes while a call is incomplete waits
 * behind it, up to 1 MiB of it.
 *
 * @param onEvent called with each event. Absent: events of text are written without an object for each
 */
function eventWriter(options: WriterOptions, onEvent?: (event: JsonObject) => void): PartWriter {
  return new MessagesEvents(options, onEvent)
}

class MessagesEvents implements PartWriter {
  readonly #onEvent: ((event: JsonObject) => void) | undefined
  readonly #model: string
  readonly #promptTokens: () => number
  /** The first one is open. */
  readonly #blocks: Block[] = []
  #parts: Part[] = []
  #hasStarted = false
  #isOpen = false
  #index = -1
  #callCount = 0
  #waiting = 0
  #characters = 0
  #finish: FinishEvent | undefined
  #counts: TokenCounts | undefined
  readonly hasOneChoice = true

  constructor({ model, promptTokens }: WriterOptions, onEvent?: (event: JsonObject) => void) {
    this.#onEvent = onEvent
    this.#model = model
    this.#promptTokens = promptTokens
  }

  write(events: readonly AnswerEvent[]): readonly Part[] {
    const more = this.#moreText(events)
    if (more !== undefined) return [more]
    const wasFinished = this.#finish !== undefined
    for (const event of events) {
      if (event.kind !== 'start' && event.kind !== 'usage') this.#start()
      this.#read(event)
      this.#flush()
    }
    // The event with the reason needs the usage, which comes last.
    if (this.#finish !== undefined && !wasFinished)
      this.#parts.push(emptyPart({ finishReason: this.#finish.reason, isMeaningful: true }))
    return this.#take()
  }

  end(): readonly Part[] {
    this.#start()
    const counted = this.#counts ?? { prompt: this.#promptTokens(), completion: Math.ceil(this.#characters / 4) }
    const stopReason = writeStopReason(this.#finish ?? { reason: 'stop', raw: undefined }, this.#callCount > 0)
    this.#emit(
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason, stop_sequence: sequenceOf(stopReason, this.#finish) },
        usage: writeMessagesUsage(counted),
      },
      {
        isMeaningful: true,
        finishReason: this.#finish === undefined ? 'stop' : undefined,
        hasOpenChoice: false,
        usage: this.#counts && countedUsage(this.#counts),
      },
    )
    this.#emit({ type: 'message_stop' }, { hasOpenChoice: false })
    return this.#take()
  }

  #emit(event: JsonObject, facts: Partial<Part> = {}): void {
    this.#onEvent?.(event)
    this.#parts.push(messagePart(event, { hasOpenChoice: this.#finish === undefined, ...facts }))
  }

  #start({ id, model: named }: Partial<StartEvent> = {}): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    this.#emit({
      type: 'message_start',
      message: {
        id: id ?? madeUpId('msg_'),
        type: 'message',
        role: 'assistant',
        model: named ?? this.#model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        // Clients fill their meter by it, and other formats count at the end. A whole answer has the counts of its end.
        usage: { input_tokens: this.#onEvent === undefined ? this.#promptTokens() : 0, output_tokens: 0 },
      },
    })
  }

  #openBlock(kind: Block['kind'], block: JsonObject, call?: number): Block {
    for (const before of this.#blocks)
      if (before.kind !== 'call' || before.json?.isComplete === true) before.isComplete = true
    const opened: Block = {
      kind,
      start: block,
      waiting: '',
      json: kind === 'call' ? jsonEnd() : undefined,
      isComplete: false,
      ...(call === undefined ? {} : { call }),
    }
    this.#blocks.push(opened)
    if (kind === 'call') this.#callCount++
    return opened
  }

  #add(block: Block, more: string): void {
    this.#characters += more.length
    this.#waiting += more.length
    if (this.#waiting > waitingCharactersMax)
      throw new UpstreamFailure('too_large', 'calls that alternate are too large', { status: 200 })
    block.waiting += more
    block.json?.read(more)
  }

  /** Writes the open block, and the blocks behind complete ones. */
  #flush(): void {
    for (let block = this.#blocks[0]; block !== undefined; block = this.#blocks[0]) {
      if (!this.#isOpen) {
        this.#isOpen = true
        this.#index++
        this.#emit({ type: 'content_block_start', index: this.#index, content_block: block.start }, factsOfStart(block))
      }
      if (block.waiting !== '') {
        const content = block.waiting
        this.#waiting -= content.length
        block.waiting = ''
        this.#emit(
          { type: 'content_block_delta', index: this.#index, delta: deltaOf(block, content) },
          factsOf(block, content),
        )
      }
      if (!block.isComplete) return
      this.#emit({ type: 'content_block_stop', index: this.#index })
      this.#isOpen = false
      this.#blocks.shift()
    }
  }

  /** The last block if it is of this kind and not complete, else a new one. */
  #current(kind: 'text' | 'thinking'): Block {
    const last = this.#blocks.at(-1)
    if (last?.kind === kind && !last.isComplete) return last
    return this.#openBlock(
      kind,
      kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' },
    )
  }

  /** Ends a block of reasoning with the data of its maker. Without an open block, the data gets one of its own. */
  #seal(event: Sealed): void {
    const sealed = writeThinkingBlock(event)
    if (sealed === undefined) return
    const last = this.#blocks.at(-1)
    if (event.text !== undefined && last?.kind === 'thinking' && !last.isComplete) {
      this.#flush()
      if (this.#isOpen && this.#blocks[0] === last)
        this.#emit(
          {
            type: 'content_block_delta',
            index: this.#index,
            delta: { type: 'signature_delta', signature: event.opaque.data },
          },
          hiddenThought,
        )
      last.isComplete = true
      return
    }
    this.#openBlock('thinking', sealed).isComplete = true
  }

  #addText(kind: 'text' | 'thinking', text: string): void {
    if (text !== '') this.#add(this.#current(kind), text)
  }

  #addCall({ call, id = madeUpId('toolu_'), name, opaque }: CallEvent): void {
    const last = this.#blocks.at(-1)
    const isThinking = last?.kind === 'thinking' && !last.isComplete
    if (opaque !== undefined) this.#seal({ text: isThinking ? '' : undefined, opaque })
    this.#openBlock('call', { type: 'tool_use', id, name, input: {} }, call)
  }

  #addArguments({ call, text }: ArgumentsEvent): void {
    const block = this.#blocks.find((each) => each.call === call)
    if (block === undefined || text === '') return
    if (block.isNoObject === undefined) {
      const begun = text.trimStart()
      if (begun === '') return
      block.isNoObject = !begun.startsWith('{')
    }
    if (!block.isNoObject) this.#add(block, text)
  }

  /** Completes the block of a call. */
  #completeCall({ call }: CallEndEvent): void {
    const block = this.#blocks.find((each) => each.call === call)
    if (block !== undefined) block.isComplete = true
  }

  /** Keeps the first reason, and completes all blocks except calls, since clients run a call when its block ends. */
  #finishWith(event: FinishEvent): void {
    this.#finish ??= event
    for (const block of this.#blocks) if (block.kind !== 'call') block.isComplete = true
  }

  #read(event: AnswerEvent): void {
    if ('choice' in event && (event.choice !== 0 || this.#finish !== undefined)) return
    switch (event.kind) {
      case 'start':
        return this.#start(event)
      case 'text':
      case 'refusal':
        return this.#addText('text', event.text)
      case 'reasoning':
        return this.#addText('thinking', event.text)
      case 'sealed':
        return this.#seal(event)
      case 'call':
        return this.#addCall(event)
      case 'arguments':
        return this.#addArguments(event)
      case 'callEnd':
        return this.#completeCall(event)
      case 'finish':
        return this.#finishWith(event)
      case 'usage':
        this.#counts = event.counts
        return
      default:
        // Images and log probabilities have no place in Messages; own members belong to other formats.
        return
    }
  }

  /** The usual case, quickly: more text for the open block. Undefined: these events are another case. */
  #moreText(events: readonly AnswerEvent[]): Part | undefined {
    const [event, second] = events
    const [block, behind] = this.#blocks
    if (second !== undefined || event?.kind !== 'text' || event.choice !== 0 || this.#onEvent !== undefined)
      return undefined
    if (!this.#isOpen || block?.kind !== 'text' || block.isComplete || behind !== undefined) return undefined
    const { text } = event
    if (text === '' || text.length > waitingCharactersMax) return undefined
    this.#characters += text.length
    const delta = `{"type":"text_delta","text":${JSON.stringify(text)}}`
    return {
      kind: 'part',
      data: encode(`{"type":"content_block_delta","index":${this.#index},"delta":${delta}}`),
      event: 'content_block_delta',
      isMeaningful: true,
      text,
      isBeyondText: false,
      finishReason: undefined,
      hasOpenChoice: true,
      usage: undefined,
    }
  }

  /** Takes the parts written so far. */
  #take(): readonly Part[] {
    const taken = this.#parts
    this.#parts = []
    return taken
  }
}

const beyondText = { isMeaningful: true, isBeyondText: true } as const

function sequenceOf(stopReason: string, finish: FinishEvent | undefined): string | null {
  return stopReason === 'stop_sequence' ? (finish?.stopSequence ?? null) : null
}

function factsOfStart({ kind, start }: Block): Partial<Part> {
  if (kind === 'call') return beyondText
  return start['type'] === 'redacted_thinking' || Boolean(start['signature']) ? hiddenThought : {}
}

function factsOf({ kind }: Block, content: string): Partial<Part> {
  return kind === 'text' ? { isMeaningful: true, text: content } : beyondText
}

function deltaOf({ kind }: Block, content: string): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text_delta', text: content }
    case 'thinking':
      return { type: 'thinking_delta', thinking: content }
    case 'call':
      return { type: 'input_json_delta', partial_json: content }
  }
}

import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerEvent, FinishEvent, StartEvent, UsageEvent } from '../answer.ts'
import { encodeJson } from '../exact-json.ts'
import type { Part } from '../part.ts'
import { countedUsage, type Usage } from '../usage.ts'
import {
  addEvent,
  carriesAnything,
  carriesMore,
  carriesText,
  headOf,
  writeChunkChoice,
  writeMessageChoice,
  writeFinishReason,
  writeChatUsage,
  type Content,
  type ContentEvent,
} from './answer-message.ts'
import type { ChunkHead } from './chunk.ts'

export interface AnswerWriterOptions {
  /** The model's name if the answer has none. */
  readonly model: string
  /**
   * The place of usage: in a part of its own, in {@link Part.usage} only, or in the part of the choice that it came
   * with.
   */
  readonly usage: 'separate' | 'hidden' | 'beside'
  /** The head of a stream whose beginning the client has. Default: a new stream. */
  readonly continued?: ChunkHead | undefined
}

/** Writes one stream of chunks. */
export interface AnswerWriter {
  /** Writes the events of one piece of an answer. The content of one choice, up to its finish, becomes one part. */
  write(events: readonly AnswerEvent[]): readonly Part[]
}

/** A whole answer in the format of docs/api.md. */
export interface WrittenAnswer {
  readonly body: Uint8Array
  readonly usage: Usage | undefined
  /** All choices finished with `stop`, without content (failover.md row 27). */
  readonly isEmpty: boolean
  readonly isBlank: boolean
}

/** Writes the events of a whole answer as a chat completion. `model` is the model's name if the answer has none. */
export function writeAnswer(events: readonly AnswerEvent[], { model }: { readonly model: string }): WrittenAnswer {
  const { drafts, start, usage, own } = gather(events, draftOfChoice)
  const head = headOf(start, model)
  const isBlank = drafts.every(({ content }) => !carriesAnything(content))
  const body = {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: drafts.map(({ content, finish }) => writeMessageChoice(content, finish)),
    ...withUsage(own, usage),
  }
  return {
    body: encodeJson(body),
    usage: usage && countedUsage(usage.counts),
    isEmpty: isBlank && drafts.every(({ finish }) => finish?.reason === 'stop'),
    isBlank,
  }
}

/** Starts writing a stream. */
export function answerWriter(options: AnswerWriterOptions): AnswerWriter {
  return new ChatAnswer(options)
}

class ChatAnswer implements AnswerWriter {
  readonly #usagePlace: 'separate' | 'hidden' | 'beside'
  readonly #model: string
  readonly #open = new Set<number>()
  readonly #finished = new Set<number>()
  #envelope: Envelope | undefined

  constructor({ model, usage: usagePlace, continued }: AnswerWriterOptions) {
    this.#usagePlace = usagePlace
    this.#model = model
    this.#envelope = continued && envelopeOf(continued)
  }

  write(events: readonly AnswerEvent[]): Part[] {
    const { start, drafts, usage, own } = gather(events, draftOfPiece)
    const parts: Part[] = []
    if (start !== undefined && this.#envelope === undefined) {
      this.#envelope = envelopeOf(headOf(start, this.#model))
      parts.push(this.#partOf(opening, undefined, undefined))
    }
    const last = drafts.at(-1)
    const isUsageApart = usage !== undefined && (this.#usagePlace === 'separate' || last === undefined)
    for (const draft of drafts) parts.push(this.#partOf(draft, own, isUsageApart || draft !== last ? undefined : usage))
    if (isUsageApart || (own !== undefined && drafts.length === 0)) parts.push(this.#partWithoutChoice(own, usage))
    return parts
  }

  #partOf({ content, finish }: Draft, more: JsonObject | undefined, usage: UsageEvent | undefined): Part {
    const isOfFirst = content.choice === 0
    const hasText = carriesText(content)
    const hasMore = carriesMore(content)
    this.#note(content.choice, finish !== undefined)
    return {
      kind: 'part',
      data: this.#write(
        [writeChunkChoice(content, finish)],
        this.#usagePlace === 'hidden' ? more : withUsage(more, usage),
      ),
      isMeaningful: hasText || hasMore || finish !== undefined,
      text: (isOfFirst && content.text) || '',
      // Resume can repeat only text of the first choice.
      isBeyondText: hasMore || (hasText && !isOfFirst),
      finishReason: finish && writeFinishReason(finish),
      hasOpenChoice: this.#open.size > 0,
      usage: usage && countedUsage(usage.counts),
    }
  }

  #partWithoutChoice(more: JsonObject | undefined, usage: UsageEvent | undefined): Part {
    return {
      kind: 'part',
      data: usage !== undefined && this.#usagePlace === 'hidden' ? noData : this.#write([], withUsage(more, usage)),
      isMeaningful: false,
      text: '',
      isBeyondText: false,
      finishReason: undefined,
      hasOpenChoice: this.#open.size > 0,
      usage: usage && countedUsage(usage.counts),
    }
  }

  #note(choice: number, isFinished: boolean): void {
    if (isFinished) {
      this.#open.delete(choice)
      this.#finished.add(choice)
    } else if (!this.#finished.has(choice)) this.#open.add(choice)
  }

  #write(choices: readonly JsonObject[], more: JsonObject | undefined): Uint8Array {
    this.#envelope ??= envelopeOf(headOf(undefined, this.#model))
    if (more !== undefined) return encodeJson({ ...this.#envelope.members, choices, ...more })
    return encoder.encode(`${this.#envelope.beginning}${JSON.stringify(choices)}}`)
  }
}

/** A choice before it is written: whole, or a piece of it. */
interface Draft {
  readonly content: Content
  finish?: FinishEvent
}

const noData = new Uint8Array()
const encoder = new TextEncoder()
/** The first chunk of a stream has the role. */
const opening: Draft = { content: { choice: 0, ownOfMessage: { role: 'assistant', content: '' } } }

/** Events by their place in the answer. */
interface Gathered {
  readonly drafts: Draft[]
  start?: StartEvent
  usage?: UsageEvent
  /** Members that belong to no choice. */
  own?: JsonObject
}

/** Finds or begins the draft for an event. */
type FindDraft = (drafts: Draft[], event: ContentEvent | FinishEvent) => Draft

function gather(events: readonly AnswerEvent[], findDraft: FindDraft): Gathered {
  const gathered: Gathered = { drafts: [] }
  for (const event of events) {
    if (event.kind === 'start') gathered.start = event
    else if (event.kind === 'usage') gathered.usage = event
    else if (event.kind === 'own' && event.at === 'answer') gathered.own = { ...gathered.own, ...event.fields }
    else if (event.kind === 'finish') findDraft(gathered.drafts, event).finish = event
    else if (event.kind !== 'callEnd') addEvent(findDraft(gathered.drafts, event).content, event)
  }
  return gathered
}

/** The draft of the event's choice, for whole answers. */
function draftOfChoice(drafts: Draft[], { choice }: ContentEvent | FinishEvent): Draft {
  return drafts.find(({ content }) => content.choice === choice) ?? begin(drafts, choice)
}

/** The draft of the choice's current piece, for streams. A finish gets its own draft if the piece has content. */
function draftOfPiece(drafts: Draft[], { choice, kind }: ContentEvent | FinishEvent): Draft {
  const last = drafts.at(-1)
  const isOpen = last?.content.choice === choice && last.finish === undefined
  return isOpen && (kind !== 'finish' || !carriesAnything(last.content)) ? last : begin(drafts, choice)
}

function begin(drafts: Draft[], choice: number): Draft {
  const draft: Draft = { content: { choice } }
  drafts.push(draft)
  return draft
}

function withUsage(more: JsonObject | undefined, usage: UsageEvent | undefined): JsonObject | undefined {
  return usage === undefined ? more : { ...more, usage: writeChatUsage(usage) }
}

interface Envelope {
  readonly members: JsonObject
  /** The JSON of a chunk up to the value of `choices`. */
  readonly beginning: string
}

function envelopeOf({ id, created, model }: ChunkHead): Envelope {
  const members = { id, object: 'chat.completion.chunk', created, model }
  return { members, beginning: `${JSON.stringify(members).slice(0, -1)},"choices":` }
}

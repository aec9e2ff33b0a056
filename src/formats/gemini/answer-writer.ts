import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type {
  AnswerEvent,
  ArgumentsEvent,
  CallEndEvent,
  CallEvent,
  FinishEvent,
  LogprobsEvent,
  StartEvent,
  TextEvent,
  TokenCounts,
  UsageEvent,
} from '../answer.ts'
import type { Sealed } from '../conversation.ts'
import { encodeJson, numberOf, objectsOf, readArguments, textOf } from '../exact-json.ts'
import type { PartWriter } from '../format.ts'
import { emptyPart, type Part } from '../part.ts'
import type { WholeReply } from '../reply.ts'
import { countedUsage } from '../usage.ts'
import { writeGeminiFinishReason } from './finish-reason.ts'
import { sealThoughts } from './sealed-thoughts.ts'
import { writeUsageMetadata } from './usage-metadata.ts'
import { gatheredResponse } from './whole-response.ts'

/** Arguments of calls that are incomplete. */
const waitingCharactersMax = 8 * 1024 * 1024
/** Calls are written at once if more than this waits for the finish. */
const heldCharactersMax = 1024 * 1024

/** Facts of a request that its answer needs. */
export interface ResponseOptions {
  /** The model's name if the answer has none. */
  readonly model: string
  /** Estimated tokens of the request, for an upstream that counts none. */
  readonly promptTokens: () => number
  /** The caller wants to see thoughts. */
  readonly includesThoughts: boolean
  /** Number of candidates that were asked for. */
  readonly choices: number
}

/** Writes a whole answer. */
export function writeGeminiResponse(events: readonly AnswerEvent[], options: ResponseOptions): WholeReply {
  const response = gatheredResponse()
  const writer = eventWriter(options, response.add)
  const written = [...writer.write(events), ...writer.end()]
  const isBlank = written.every(({ text, isBeyondText }) => text === '' && !isBeyondText)
  return {
    kind: 'whole',
    body: encodeJson(response.finish()),
    usage: written.findLast(({ usage }) => usage !== undefined)?.usage,
    isEmpty: isBlank && written.every(({ finishReason }) => finishReason === undefined || finishReason === 'stop'),
    isBlank,
  }
}

/** Starts writing a stream. */
export function responseStreamWriter(options: ResponseOptions): PartWriter {
  return eventWriter(options)
}

interface OpenCall {
  readonly event: CallEvent
  /** Its arguments so far. */
  json: string
}

/** One candidate that is being written. */
interface Candidate {
  /** Calls whose arguments are incomplete, by their number. */
  readonly calls: Map<number, OpenCall>
  /** Reasoning with data of its maker, for the signature of the next call. */
  sealed: Sealed[]
  finish: FinishEvent | undefined
  /** It has a complete call. */
  hasCalls: boolean
  /** Parts that are not written yet. */
  parts: JsonObject[]
  logprobs: JsonObject | undefined
}

/**
 * Writes GenerateContentResponses. Calls, and what comes behind them, wait for the finish, as in `native.ts`. The last
 * response has the reasons and the usage.
 *
 * @param onResponse called with each response. Absent: those of text are written without an object for each
 */
function eventWriter(options: ResponseOptions, onResponse?: (response: JsonObject) => void): PartWriter {
  return new GeminiEvents(options, onResponse)
}

class GeminiEvents implements PartWriter {
  readonly #model: string
  readonly #includesThoughts: boolean
  readonly #onResponse: ((response: JsonObject) => void) | undefined
  readonly #promptTokens: () => number
  readonly #candidates = new Map<number, Candidate>()
  #head: JsonObject | undefined
  /** Its members, and the end of the object. */
  #headJson: string | undefined
  #counts: TokenCounts | undefined
  #characters = 0
  /** Characters of incomplete calls. */
  #waiting = 0
  /** Characters of complete calls and of what came behind them. */
  #held = 0
  /** Facts of parts that are not written yet. */
  #facts: Partial<Part> = {}
  #text = ''
  readonly hasOneChoice: boolean

  constructor(
    { model, promptTokens, includesThoughts, choices }: ResponseOptions,
    onResponse?: (response: JsonObject) => void,
  ) {
    this.#model = model
    this.#includesThoughts = includesThoughts
    this.#onResponse = onResponse
    this.#promptTokens = promptTokens
    this.hasOneChoice = choices === 1
  }

  write(events: readonly AnswerEvent[]): Part[] {
    const only = this.#onlyText(events)
    if (only !== undefined) return [only]
    for (const event of events) {
      if (event.kind === 'start') this.#start(event)
      else if (event.kind === 'usage') this.#counts = event.counts
      else {
        const added = this.#read(event)
        this.#text += added.text ?? ''
        this.#facts = { ...this.#facts, ...added }
      }
    }
    if (this.#isHeld()) return [emptyPart({ isProgress: true, hasOpenChoice: true })]
    const written = this.#take()
    const part = emptyPart({ ...this.#facts, text: this.#text, hasOpenChoice: this.#hasOpenChoice() })
    const isEmpty = Object.keys(this.#facts).length === 0
    this.#characters += this.#text.length
    this.#facts = {}
    this.#text = ''
    if (written.length > 0) {
      const response = { candidates: written, ...this.#start() }
      this.#onResponse?.(response)
      return [{ ...part, data: encodeJson(response) }]
    }
    return isEmpty ? [] : [part]
  }

  end(): readonly Part[] {
    const counted = this.#counts ?? { prompt: this.#promptTokens(), completion: Math.ceil(this.#characters / 4) }
    if (this.#candidates.size === 0) this.#candidateOf(0)
    const isUnfinished = this.#hasOpenChoice()
    const response = {
      candidates: [...this.#candidates].map(([index, { finish, parts }]) => ({
        ...writeCandidate(parts.length === 0 ? [{ text: '' }] : parts, index),
        finishReason: writeGeminiFinishReason(finish ?? { reason: 'stop' }),
      })),
      usageMetadata: writeUsageMetadata(counted),
      ...this.#start(),
    }
    this.#onResponse?.(response)
    return [
      {
        ...emptyPart({
          isMeaningful: true,
          finishReason: isUnfinished ? 'stop' : undefined,
          usage: this.#counts && countedUsage(this.#counts),
        }),
        data: encodeJson(response),
      },
    ]
  }

  #start({ id, model: named }: Partial<StartEvent> = {}): JsonObject {
    this.#head ??= { modelVersion: named ?? this.#model, responseId: id ?? crypto.randomUUID() }
    return this.#head
  }

  #candidateOf(choice: number): Candidate {
    const known = this.#candidates.get(choice)
    if (known !== undefined) return known
    const made: Candidate = {
      calls: new Map(),
      sealed: [],
      finish: undefined,
      hasCalls: false,
      parts: [],
      logprobs: undefined,
    }
    this.#candidates.set(choice, made)
    return made
  }

  #put(candidate: Candidate, part: JsonObject, characters: number): void {
    candidate.parts.push(part)
    if (candidate.hasCalls) this.#held += characters
  }

  #addText(candidate: Candidate, { kind, text, choice }: TextEvent): Partial<Part> {
    if (text === '') return {}
    if (kind === 'reasoning' && !this.#includesThoughts) return { isProgress: true }
    this.#put(candidate, kind === 'reasoning' ? { text, thought: true } : { text }, text.length)
    return kind === 'reasoning' || choice !== 0 ? beyondText : { isMeaningful: true, text }
  }

  #addToCall(candidate: Candidate, event: CallEvent | ArgumentsEvent | CallEndEvent): Partial<Part> {
    const call = candidate.calls.get(event.call)
    if (event.kind === 'call') candidate.calls.set(event.call, { event, json: '' })
    if (call === undefined) return { isProgress: true }
    if (event.kind === 'callEnd') return this.#completeCall(candidate, event.call, call)
    if (event.kind === 'arguments') {
      call.json += event.text
      this.#waiting += event.text.length
      if (this.#waiting > waitingCharactersMax)
        throw new UpstreamFailure('too_large', 'the calls of the answer are too large', { status: 200 })
    }
    return { isProgress: true }
  }

  #completeCall(candidate: Candidate, number: number, { event, json }: OpenCall): Partial<Part> {
    candidate.calls.delete(number)
    this.#waiting -= json.length
    const signature = signatureOf(event, candidate.sealed)
    candidate.sealed = []
    candidate.hasCalls = true
    const id = event.id === undefined ? {} : { id: event.id }
    const sealed = signature === undefined ? {} : { thoughtSignature: signature }
    this.#put(
      candidate,
      { functionCall: { ...id, name: event.name, args: readArguments(json) }, ...sealed },
      json.length,
    )
    return beyondText
  }

  /** Reads an event of a candidate, and returns the facts that it adds to the part. */
  #read(event: Exclude<AnswerEvent, StartEvent | UsageEvent>): Partial<Part> {
    const candidate = this.#candidateOf(event.choice)
    if (candidate.finish !== undefined) return {}
    switch (event.kind) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        return this.#addText(candidate, event)
      case 'sealed':
        candidate.sealed.push(event)
        return { isProgress: true }
      case 'call':
      case 'arguments':
      case 'callEnd':
        return this.#addToCall(candidate, event)
      case 'image':
        this.#put(candidate, { inlineData: { mimeType: event.mediaType, data: event.base64 } }, event.base64.length)
        return beyondText
      case 'logprobs':
        candidate.logprobs = writeLogprobs(event)
        return {}
      case 'finish':
        candidate.finish = event
        return { isMeaningful: true, finishReason: event.reason }
      case 'own':
        return {}
    }
  }

  /** Takes the unwritten parts of the candidates. */
  #take(): readonly JsonObject[] {
    return [...this.#candidates].flatMap(([index, candidate]) => {
      const { parts, logprobs } = candidate
      if (parts.length === 0 && logprobs === undefined) return []
      candidate.parts = []
      candidate.logprobs = undefined
      return [{ ...writeCandidate(parts, index), ...(logprobs === undefined ? {} : { logprobsResult: logprobs }) }]
    })
  }

  /** Whether nothing waits to be written, and text of the only candidate can be written as it comes. */
  #isAtText(): boolean {
    const candidate = this.#candidates.get(0)
    if (candidate === undefined || this.#candidates.size !== 1 || this.#onResponse !== undefined) return false
    const { finish, hasCalls, parts, logprobs } = candidate
    if (finish !== undefined || hasCalls || parts.length > 0 || logprobs !== undefined) return false
    return this.#text === '' && Object.keys(this.#facts).length === 0
  }

  /** The usual case, quickly: one piece of text. Undefined: these events are another case. */
  #onlyText(events: readonly AnswerEvent[]): Part | undefined {
    const [event, second] = events
    if (second !== undefined || event?.kind !== 'text' || event.choice !== 0 || event.text === '') return undefined
    if (!this.#isAtText()) return undefined
    this.#headJson ??= JSON.stringify(this.#start()).slice(1)
    this.#characters += event.text.length
    const content = `{"role":"model","parts":[{"text":${JSON.stringify(event.text)}}]}`
    return {
      kind: 'part',
      data: encode(`{"candidates":[{"content":${content},"index":0}],${this.#headJson}`),
      isMeaningful: true,
      text: event.text,
      isBeyondText: false,
      finishReason: undefined,
      hasOpenChoice: true,
      usage: undefined,
    }
  }

  /** Whether calls wait for the finish of their candidate. */
  #isHeld(): boolean {
    if (this.#held > heldCharactersMax) return false
    return [...this.#candidates.values()].some(({ hasCalls, finish }) => hasCalls && finish === undefined)
  }

  #hasOpenChoice(): boolean {
    return this.#candidates.size === 0 || [...this.#candidates.values()].some(({ finish }) => finish === undefined)
  }
}

const beyondText = { isMeaningful: true, isBeyondText: true } as const

function writeCandidate(parts: readonly JsonObject[], index: number): JsonObject {
  return { content: { role: 'model', parts }, index }
}

/** Gemini has the reasoning that led to a call with the call. */
function signatureOf({ opaque }: CallEvent, before: readonly Sealed[]): string | undefined {
  const sealed = opaque === undefined ? before : [...before, { text: undefined, opaque }]
  return sealed.length === 0 ? undefined : sealThoughts(sealed)
}

function writeLogprobs({ tokens }: LogprobsEvent): JsonObject | undefined {
  if (tokens === undefined) return undefined
  return {
    topCandidates: tokens.map(({ top_logprobs }) => ({ candidates: objectsOf(top_logprobs).map(writeToken) })),
    chosenCandidates: tokens.map(writeToken),
  }
}

function writeToken({ token, logprob }: JsonObject): JsonObject {
  return { token: textOf(token) ?? '', logProbability: numberOf(logprob) ?? 0 }
}

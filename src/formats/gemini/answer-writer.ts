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
function eventWriter(
  { model, promptTokens, includesThoughts, choices }: ResponseOptions,
  onResponse?: (response: JsonObject) => void,
): PartWriter {
  const candidates = new Map<number, Candidate>()
  let head: JsonObject | undefined
  /** Its members, and the end of the object. */
  let headJson: string | undefined
  let counts: TokenCounts | undefined
  let characters = 0
  /** Characters of incomplete calls. */
  let waiting = 0
  /** Characters of complete calls and of what came behind them. */
  let held = 0
  /** Facts of parts that are not written yet. */
  let facts: Partial<Part> = {}
  let text = ''

  function start({ id, model: named }: Partial<StartEvent> = {}): JsonObject {
    head ??= { modelVersion: named ?? model, responseId: id ?? crypto.randomUUID() }
    return head
  }

  function candidateOf(choice: number): Candidate {
    const known = candidates.get(choice)
    if (known !== undefined) return known
    const made: Candidate = {
      calls: new Map(),
      sealed: [],
      finish: undefined,
      hasCalls: false,
      parts: [],
      logprobs: undefined,
    }
    candidates.set(choice, made)
    return made
  }

  function put(candidate: Candidate, part: JsonObject, characters: number): void {
    candidate.parts.push(part)
    if (candidate.hasCalls) held += characters
  }

  function addText(candidate: Candidate, { kind, text, choice }: TextEvent): Partial<Part> {
    if (text === '') return {}
    if (kind === 'reasoning' && !includesThoughts) return { isProgress: true }
    put(candidate, kind === 'reasoning' ? { text, thought: true } : { text }, text.length)
    return kind === 'reasoning' || choice !== 0 ? beyondText : { isMeaningful: true, text }
  }

  function addToCall(candidate: Candidate, event: CallEvent | ArgumentsEvent | CallEndEvent): Partial<Part> {
    const call = candidate.calls.get(event.call)
    if (event.kind === 'call') candidate.calls.set(event.call, { event, json: '' })
    if (call === undefined) return { isProgress: true }
    if (event.kind === 'callEnd') return completeCall(candidate, event.call, call)
    if (event.kind === 'arguments') {
      call.json += event.text
      waiting += event.text.length
      if (waiting > waitingCharactersMax)
        throw new UpstreamFailure('too_large', 'the calls of the answer are too large', { status: 200 })
    }
    return { isProgress: true }
  }

  function completeCall(candidate: Candidate, number: number, { event, json }: OpenCall): Partial<Part> {
    candidate.calls.delete(number)
    waiting -= json.length
    const signature = signatureOf(event, candidate.sealed)
    candidate.sealed = []
    candidate.hasCalls = true
    const id = event.id === undefined ? {} : { id: event.id }
    const sealed = signature === undefined ? {} : { thoughtSignature: signature }
    put(candidate, { functionCall: { ...id, name: event.name, args: readArguments(json) }, ...sealed }, json.length)
    return beyondText
  }

  /** Reads an event of a candidate, and returns the facts that it adds to the part. */
  function read(event: Exclude<AnswerEvent, StartEvent | UsageEvent>): Partial<Part> {
    const candidate = candidateOf(event.choice)
    if (candidate.finish !== undefined) return {}
    switch (event.kind) {
      case 'text':
      case 'refusal':
      case 'reasoning':
        return addText(candidate, event)
      case 'sealed':
        candidate.sealed.push(event)
        return { isProgress: true }
      case 'call':
      case 'arguments':
      case 'callEnd':
        return addToCall(candidate, event)
      case 'image':
        put(candidate, { inlineData: { mimeType: event.mediaType, data: event.base64 } }, event.base64.length)
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
  function take(): readonly JsonObject[] {
    return [...candidates].flatMap(([index, candidate]) => {
      const { parts, logprobs } = candidate
      if (parts.length === 0 && logprobs === undefined) return []
      candidate.parts = []
      candidate.logprobs = undefined
      return [{ ...writeCandidate(parts, index), ...(logprobs === undefined ? {} : { logprobsResult: logprobs }) }]
    })
  }

  /** Whether nothing waits to be written, and text of the only candidate can be written as it comes. */
  function isAtText(): boolean {
    const candidate = candidates.get(0)
    if (candidate === undefined || candidates.size !== 1 || onResponse !== undefined) return false
    const { finish, hasCalls, parts, logprobs } = candidate
    if (finish !== undefined || hasCalls || parts.length > 0 || logprobs !== undefined) return false
    return text === '' && Object.keys(facts).length === 0
  }

  /** The usual case, quickly: one piece of text. Undefined: these events are another case. */
  function onlyText(events: readonly AnswerEvent[]): Part | undefined {
    const [event, second] = events
    if (second !== undefined || event?.kind !== 'text' || event.choice !== 0 || event.text === '') return undefined
    if (!isAtText()) return undefined
    headJson ??= JSON.stringify(start()).slice(1)
    characters += event.text.length
    const content = `{"role":"model","parts":[{"text":${JSON.stringify(event.text)}}]}`
    return {
      kind: 'part',
      data: encode(`{"candidates":[{"content":${content},"index":0}],${headJson}`),
      isMeaningful: true,
      text: event.text,
      isBeyondText: false,
      finishReason: undefined,
      hasOpenChoice: true,
      usage: undefined,
    }
  }

  /** Whether calls wait for the finish of their candidate. */
  function isHeld(): boolean {
    if (held > heldCharactersMax) return false
    return [...candidates.values()].some(({ hasCalls, finish }) => hasCalls && finish === undefined)
  }

  function hasOpenChoice(): boolean {
    return candidates.size === 0 || [...candidates.values()].some(({ finish }) => finish === undefined)
  }

  return {
    hasOneChoice: choices === 1,
    write(events) {
      const only = onlyText(events)
      if (only !== undefined) return [only]
      for (const event of events) {
        if (event.kind === 'start') start(event)
        else if (event.kind === 'usage') counts = event.counts
        else {
          const added = read(event)
          text += added.text ?? ''
          facts = { ...facts, ...added }
        }
      }
      if (isHeld()) return [emptyPart({ isProgress: true, hasOpenChoice: true })]
      const written = take()
      const part = emptyPart({ ...facts, text, hasOpenChoice: hasOpenChoice() })
      const isEmpty = Object.keys(facts).length === 0
      characters += text.length
      facts = {}
      text = ''
      if (written.length > 0) {
        const response = { candidates: written, ...start() }
        onResponse?.(response)
        return [{ ...part, data: encodeJson(response) }]
      }
      return isEmpty ? [] : [part]
    },
    end() {
      const counted = counts ?? { prompt: promptTokens(), completion: Math.ceil(characters / 4) }
      if (candidates.size === 0) candidateOf(0)
      const isUnfinished = hasOpenChoice()
      const response = {
        candidates: [...candidates].map(([index, { finish, parts }]) => ({
          ...writeCandidate(parts.length === 0 ? [{ text: '' }] : parts, index),
          finishReason: writeGeminiFinishReason(finish ?? { reason: 'stop' }),
        })),
        usageMetadata: writeUsageMetadata(counted),
        ...start(),
      }
      onResponse?.(response)
      return [
        {
          ...emptyPart({
            isMeaningful: true,
            finishReason: isUnfinished ? 'stop' : undefined,
            usage: counts && countedUsage(counts),
          }),
          data: encodeJson(response),
        },
      ]
    },
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

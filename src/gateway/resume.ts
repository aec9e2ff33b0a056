import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import type { Continuation, Retracer, StreamFormat } from '../formats/format.ts'
import { emptyPart, isPlainText, type Part } from '../formats/part.ts'
import { readOne, readTo, type Receiver } from '../formats/receiver.ts'
import type { PartStream, Reply } from '../formats/reply.ts'
import { answerBytes, assumed, usualTokens, type PromptSize } from '../formats/size.ts'
import { Changes } from '../service/changes.ts'
import type { CandidateReply, CandidateWalk } from '../service/failover.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Tokens } from '../service/tokens.ts'
import type { Attempt, Trail } from '../service/trail.ts'
import { cutOff } from './all-failed.ts'
import { AnswerMatch, type Matched } from './answer-match.ts'
import { AnswerSoFar, type AnswerUnit, retraced } from './answer-so-far.ts'
import type { GatewayCall } from './gateway-call.ts'
import type { ModelCandidate } from './provider.ts'

export interface ResumeOptions {
  readonly first: PartStream
  /** The format of the request. Without these, its streams are not resumed. */
  readonly format: Partial<Pick<StreamFormat, 'continued' | 'continuation' | 'retracer'>>
  readonly request: Ask
  readonly call: GatewayCall
  /** Continues with the candidates that were not asked yet. */
  readonly walk: CandidateWalk<ModelCandidate, Reply>
  /**
   * Called when the first parts of the resumed stream go to the client.
   *
   * @param continued absent: the candidate answers from the beginning
   */
  readonly onResumed?: (candidate: ModelCandidate, continued?: ContinuedAnswer) => void
  /** `false`: a cut is an error at once. */
  readonly isResumable: boolean
  /** Calls wait until they are complete, so that a cut inside one can be resumed. Default: they pass. */
  readonly holdsCalls?: boolean
  /** Called once, when the request can no longer be sent again. */
  readonly releaseRequest?: (() => void) | undefined
}

/** An answer of which a candidate writes the rest only: its prompt has the text so far. */
export interface ContinuedAnswer {
  readonly prompt: PromptSize
  /** Of the text so far, by `answerBytes`. */
  readonly bytesBefore: number
}

/**
 * A stream that survives cuts (failover.md, "A cut"). After a cut the next candidate is asked. Its stream is held back
 * while it repeats what the client has, and delivered from there. The first difference ends that attempt. A candidate
 * that can continue an answer is sent the text and asked to continue it. With `holdsCalls`, complete calls are compared
 * too, and a call reaches the client when it is complete.
 *
 * The stream fails with a {@link WireError} when no candidate resumes it exactly.
 */
export function resumable(options: ResumeOptions): PartStream & { readonly unseenBytes: number } {
  return new ResumableStream(options)
}

/** A stream that may go on with an answer. */
interface NextStream {
  readonly stream: PartStream
  readonly candidate: ModelCandidate
  /** What the candidate was asked, if it writes the rest only. */
  readonly continuing: Ask | undefined
}

class ResumableStream implements PartStream {
  readonly kind = 'stream'
  readonly contentType: string | undefined
  resuming: Promise<void> | undefined
  readonly #options: Omit<ResumeOptions, 'request'>
  readonly #answer: AnswerSoFar
  #current: PartStream
  /** After the first resume: writes the parts of the new stream as the rest of the first one. */
  #rest: Continuation | undefined
  #isCancelled = false
  #reader: Receiver<readonly Part[]> | undefined
  /** Undefined once it can no longer be sent again: requests may be large, and streams long. */
  #request: Ask | undefined

  constructor(options: ResumeOptions) {
    const { request, ...others } = options
    const { first, format, isResumable, holdsCalls = false } = others
    this.#options = others
    this.contentType = first.contentType
    this.#current = first
    this.#request = request
    const isComparable = isResumable && format.continuation !== undefined
    this.#answer = new AnswerSoFar(isComparable, isComparable && holdsCalls ? format.retracer?.(request) : undefined)
    if (!isComparable) this.#dropRequest()
  }

  get isEmpty(): boolean {
    return this.#options.first.isEmpty
  }

  /** Of content of the provider that the client did not get, by `answerBytes`. */
  get unseenBytes(): number {
    return this.#answer.unseenBytes
  }

  /** Its parts may wait for a time, in which the client hears nothing. */
  get mayWait(): boolean {
    return this.#answer.holds
  }

  read(): Promise<readonly Part[] | undefined> {
    return readOne((receiver) => this.readTo(receiver))
  }

  readTo(receiver: Receiver<readonly Part[]>): void {
    this.#reader = receiver
    readTo(this.#current, this.#own)
  }

  cancel(): void {
    this.#isCancelled = true
    this.#current.cancel()
  }

  /** Receives the parts of the current stream. */
  readonly #own: Receiver<readonly Part[]> = {
    receive: (parts) => {
      if (parts === undefined || this.#rest === undefined) return this.#give(parts)
      let written: readonly Part[]
      const writer = this.#rest
      try {
        written = parts.flatMap((part) => withUsage(part, writer.write(part)))
      } catch (error) {
        this.#reader?.fail(error)
        return false
      }
      return written.length === 0 || this.#give(written)
    },
    fail: (error) => {
      this.resuming = this.#goOn(error)
    },
  }

  async #goOn(error: unknown): Promise<void> {
    try {
      const parts = await this.#resumeAfter(error)
      if (this.#give(parts)) readTo(this.#current, this.#own)
    } catch (failure) {
      this.#reader?.fail(failure)
    }
  }

  /** @returns whether the reader takes more */
  #give(parts: readonly Part[] | undefined): boolean {
    if (parts === undefined) return this.#reader?.receive(undefined) === true
    const passed = this.#answer.pass(parts)
    if (!this.#answer.isComparable || this.#answer.isFinished) this.#dropRequest()
    return passed.length === 0 || this.#reader?.receive(passed) === true
  }

  #dropRequest(): void {
    if (this.#request === undefined) return
    this.#request = undefined
    this.#options.releaseRequest?.()
  }

  async #resumeAfter(error: unknown): Promise<readonly Part[] | undefined> {
    if (this.#isCancelled) return undefined
    if (!(error instanceof UpstreamFailure)) throw error
    const request = this.#request
    if (request === undefined) throw cutOff(error)
    const { receivedBytes, usage } = this.#answer
    const { trail, booking } = this.#options.call
    const place = trail.length - 1
    if (!this.#answer.cut(this.#options.format.retracer?.(request))) throw cutOff(error)
    const parts = await this.#resume(request, error)
    const name = trail[place]?.name
    if (parts === undefined || name === undefined) return parts
    mark(trail, place, { ...failureOf(error), tokens: usage ?? tokensOf(request, receivedBytes) })
    booking?.passOn(name, place)
    return parts
  }

  /**
   * Asks the remaining candidates one after the other. Resolves with the first parts that are new to the client, or
   * `undefined` after a cancel.
   */
  async #resume(asked: Ask, cut: UpstreamFailure): Promise<readonly Part[] | undefined> {
    const { trail } = this.#options.call
    for (;;) {
      if (this.#isCancelled) return undefined
      const next = await this.#nextStream(asked, cut)
      const place = trail.length - 1
      this.#current = next.stream
      if (this.#isCancelled) {
        next.stream.cancel()
        return undefined
      }
      const facts = await this.#join(asked, next)
      if (!('differedAt' in facts)) {
        mark(trail, place, { isResumed: true })
        return facts
      }
      // It may be billed. Of a caller that has left, limits of money book it.
      mark(trail, place, { ...facts, ambiguous: true, ...(this.#isCancelled ? { tokens: undefined } : {}) })
      next.stream.cancel()
    }
  }

  /** The first parts of another stream that are new to the client, or why it cannot go on with the answer. */
  async #join(
    asked: Ask,
    next: NextStream,
  ): Promise<readonly Part[] | (Partial<Attempt> & { readonly differedAt: string | undefined })> {
    const { stream, candidate, continuing } = next
    const { format, onResumed } = this.#options
    const answer = this.#answer
    try {
      const found =
        continuing === undefined
          ? await readBeyond(stream, answer.units, format.retracer?.(asked))
          : await readMeaningful(stream)
      if ('differedAt' in found)
        return { differedAt: found.differedAt, tokens: tokensOf(continuing ?? asked, found.receivedBytes) }
      if (this.#isCancelled) return []
      const delivered = answer.delivered()
      const isNew = delivered.first === undefined
      this.#rest = isNew ? undefined : format.continuation?.(asked, delivered, answer.openText, found.calls)
      const parts = written(found, this.#rest)
      answer.resumed()
      const prompt = continuing && formats[continuing.format].demand(continuing).prompt
      onResumed?.(candidate, prompt && { prompt, bytesBefore: answer.bytes })
      return parts
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      return { differedAt: undefined, ...failureOf(error), tokens: tokensOf(asked, 0) }
    }
  }

  async #nextStream(asked: Ask, cut: UpstreamFailure): Promise<NextStream> {
    const { walk, call, format } = this.#options
    let continuing: Ask | undefined
    let answer: CandidateReply<ModelCandidate, Reply>
    try {
      answer = await walk.next(async (candidate, isLast) => {
        const ofCandidate = { ...call, isLast, changes: new Changes() }
        call.onTurn?.(candidate.name)
        const text = candidate.continues && this.#answer.isText ? this.#answer.openText : undefined
        continuing = text === undefined ? undefined : format.continued?.(asked, text)
        if (continuing === undefined) return candidate.answer(asked, ofCandidate)
        try {
          return await candidate.answer(continuing, ofCandidate)
        } catch (error) {
          if (call.signal.aborted || !(error instanceof UpstreamFailure) || error.failure !== 'bad_request') throw error
          continuing = undefined
          return candidate.answer(asked, ofCandidate)
        }
      }, call)
    } catch (error) {
      throw call.signal.aborted ? error : cutOff(cut)
    }
    if (answer.reply.kind !== 'stream') throw cutOff(cut)
    return { stream: answer.reply, candidate: answer.candidate, continuing }
  }
}

/** The parts that a part was rewritten as, with its usage: callers may have no event that shows it. */
function withUsage({ usage }: Part, rewritten: readonly Part[]): readonly Part[] {
  if (usage === undefined || rewritten.some((part) => part.usage !== undefined)) return rewritten
  return [...rewritten, emptyPart({ usage })]
}

/** Changes the facts of an attempt in the trail. */
function mark(trail: Trail, place: number, facts: Partial<Attempt>): void {
  const attempt = trail[place]
  if (attempt !== undefined) trail[place] = { ...attempt, ...facts }
}

function failureOf({ failure, summary }: UpstreamFailure): Pick<Attempt, 'failure' | 'reason'> {
  return { failure, reason: summary }
}

/** What a stream has used, about, that its provider has not counted. */
function tokensOf(request: Ask, receivedBytes: number): Tokens {
  return {
    promptTokens: usualTokens(formats[request.format].demand(request).prompt),
    completionTokens: Math.ceil(receivedBytes / assumed.bytesPerToken.usual),
    isEstimated: true,
  }
}

/** The place in a stream from which it is new to the client. */
interface Beginning {
  /** From the first one that is not only a repetition. */
  readonly parts: readonly Part[]
  /** The end of the first part's text that is new to the client. Absent: all of it. */
  readonly text?: string
  /** Numbers in the stream of the calls that the client has. */
  readonly calls?: ReadonlySet<number>
}

/** Why a stream cannot go on with an answer. */
interface Differing {
  /** The place of the answer where the stream differs, or ends. */
  readonly differedAt: string
  /** By `answerBytes`. */
  readonly receivedBytes: number
}

function written({ parts, text }: Beginning, rest: Continuation | undefined): readonly Part[] {
  if (rest === undefined) return parts
  return parts.flatMap((part, index) => withUsage(part, rest.write(part, index === 0 ? text : undefined)))
}

/** Reads a stream past what the client has, to the first part behind it with content. */
async function readBeyond(
  stream: PartStream,
  units: readonly AnswerUnit[],
  retracer: Retracer | undefined,
): Promise<Beginning | Differing> {
  const match = new AnswerMatch(units)
  const found: Part[] = []
  let text: string | undefined
  let receivedBytes = 0
  for (;;) {
    const parts = await stream.read()
    if (parts === undefined) return { differedAt: match.place, receivedBytes }
    for (const part of parts) {
      receivedBytes += answerBytes(part)
      const wasComplete = match.isComplete
      const matched = found.length > 0 ? 'same' : matchedBy(match, part, retracer)
      if (matched === 'differs') return { differedAt: match.place, receivedBytes }
      if (matched !== 'same') text = matched.newText
      if (found.length > 0 || wasComplete || matched !== 'same') found.push(part)
    }
    if (found.some(({ isMeaningful }) => isMeaningful))
      return { parts: found, calls: match.calls, ...(text === undefined ? {} : { text }) }
  }
}

/** Compares the events of a part. A part may be new from one of them on. */
function matchedBy(match: AnswerMatch, part: Part, retracer: Retracer | undefined): Matched {
  if (isPlainText(part) && !match.hasOpenCall) return match.take({ kind: 'text', choice: 0, text: part.text })
  const events = retraced(retracer, part)
  if (events === undefined) return match.isComplete ? { newText: part.text } : 'differs'
  let result: Matched = 'same'
  for (const event of events) {
    const matched = match.take(event)
    if (matched === 'differs') return matched
    if (matched === 'same') continue
    result = { newText: (result === 'same' ? '' : result.newText) + matched.newText }
  }
  if (part.finishReason === undefined || result !== 'same') return result
  return match.isComplete ? { newText: '' } : 'differs'
}

async function readMeaningful(stream: PartStream): Promise<Beginning | Differing> {
  for (;;) {
    const parts = await stream.read()
    if (parts === undefined) return { differedAt: 'text:0', receivedBytes: 0 }
    const first = parts.findIndex(({ isMeaningful }) => isMeaningful)
    if (first !== -1) return { parts: parts.slice(first) }
  }
}

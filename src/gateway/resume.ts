import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import type { Continuation, StreamFormat } from '../formats/format.ts'
import { emptyPart, type Part } from '../formats/part.ts'
import { readOne, readTo, type Receiver } from '../formats/receiver.ts'
import { deliveredParts, type PartStream, type Reply } from '../formats/reply.ts'
import { answerBytes, type PromptSize } from '../formats/size.ts'
import type { CandidateReply, CandidateWalk } from '../service/failover.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Trail } from '../service/trail.ts'
import { cutOff } from './all-failed.ts'
import type { GatewayCall } from './gateway-call.ts'
import type { ModelCandidate } from './provider.ts'

const textLengthMax = 1024 * 1024

export interface ResumeOptions {
  readonly first: PartStream
  /** The format of the request. Without these, its streams are not resumed. */
  readonly format: Partial<Pick<StreamFormat, 'continued' | 'continuation'>>
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
 * while it repeats the text that the client has, and delivered from there. The first difference ends that attempt. A
 * candidate that can continue an answer is sent the text and asked to continue it. Only plain text is resumed.
 *
 * @throws {WireError} when no candidate resumes it exactly
 */
export function resumable(options: ResumeOptions): PartStream {
  const { first, call, walk, onResumed, releaseRequest } = options
  const { continued, continuation } = options.format
  let current = first
  /** The id, time and model of the first part stay the same to the end. */
  const delivered = deliveredParts()
  let sent = ''
  let sentBytes = 0
  let isResumable = options.isResumable && continuation !== undefined
  /** After the first resume: writes the parts of the new stream as the rest of the first one. */
  let rest: Continuation | undefined
  let isFinished = false
  let isCancelled = false
  let resuming: Promise<void> | undefined
  let reader: Receiver<readonly Part[]> | undefined
  /** Undefined once it can no longer be sent again: requests may be large, and streams long. */
  let request: Ask | undefined = options.request
  if (!isResumable) dropRequest()

  function dropRequest(): void {
    if (request === undefined) return
    request = undefined
    releaseRequest?.()
  }

  function remember(parts: readonly Part[]): readonly Part[] {
    for (const part of parts) {
      delivered.add(part)
      if (part.isBeyondText) isResumable = false
      if (part.finishReason !== undefined) isFinished = true
      if (!isResumable || part.text === '') continue
      sent += part.text
      sentBytes += answerBytes(part)
    }
    if (sent.length > textLengthMax) isResumable = false
    if (!isResumable || isFinished) dropRequest()
    return parts
  }

  function readParts(receiver: Receiver<readonly Part[]>): void {
    reader = receiver
    readTo(current, own)
  }

  /** Receives the parts of the current stream. */
  const own: Receiver<readonly Part[]> = {
    receive(parts) {
      if (parts === undefined || rest === undefined) return give(parts)
      let written: readonly Part[]
      const writer = rest
      try {
        written = parts.flatMap((part) => withUsage(part, writer.write(part)))
      } catch (error) {
        reader?.fail(error)
        return false
      }
      return written.length === 0 || give(written)
    },
    fail: giveRest,
  }

  function give(parts: readonly Part[] | undefined): boolean {
    return reader?.receive(parts && remember(parts)) === true
  }

  function giveRest(cause: unknown): void {
    resuming = resumeAfter(cause).then(
      (parts) => {
        if (give(parts)) readTo(current, own)
      },
      (failure: unknown) => reader?.fail(failure),
    )
  }

  async function resumeAfter(error: unknown): Promise<readonly Part[] | undefined> {
    if (isCancelled) return undefined
    if (!(error instanceof UpstreamFailure)) throw error
    if (!isResumable || isFinished || request === undefined) throw cutOff(error)
    return resume(request, error)
  }

  /**
   * Asks the remaining candidates one after the other. Resolves with the first parts that are new to the client, or
   * `undefined` after a cancel.
   */
  async function resume(asked: Ask, cut: UpstreamFailure): Promise<readonly Part[] | undefined> {
    for (;;) {
      if (isCancelled) return undefined
      const next = await nextStream(asked, cut)
      if (isCancelled) {
        next.stream.cancel()
        return undefined
      }
      current = next.stream
      try {
        const { continuing } = next
        const found = continuing ? await readMeaningful(next.stream) : await readBeyond(next.stream, sent)
        if (found !== undefined) {
          const { part, text, more } = found
          const written = continuation?.(asked, delivered.soFar(), sent)
          if (written === undefined) throw cutOff(cut)
          const first = withUsage(part, written.write(part, text))
          const parts = [...first, ...more.flatMap((each) => withUsage(each, written.write(each)))]
          rest = written
          const prompt = continuing && formats[continuing.format].demand(continuing).prompt
          onResumed?.(next.candidate, prompt && { prompt, bytesBefore: sentBytes })
          return parts
        }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
      }
      markGivenUp(call.trail, next.candidate.name)
      next.stream.cancel()
    }
  }

  async function nextStream(
    asked: Ask,
    cut: UpstreamFailure,
  ): Promise<{
    readonly stream: PartStream
    readonly candidate: ModelCandidate
    readonly continuing: Ask | undefined
  }> {
    let continuing: Ask | undefined
    let answer: CandidateReply<ModelCandidate, Reply>
    try {
      answer = await walk.next(async (candidate, isLast) => {
        const ofCandidate = { ...call, isLast }
        call.onTurn?.(candidate.name)
        continuing = candidate.continues ? continued?.(asked, sent) : undefined
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

  return {
    kind: 'stream',
    contentType: first.contentType,
    isEmpty: first.isEmpty,
    get resuming() {
      return resuming
    },
    read: () => readOne(readParts),
    readTo: readParts,
    cancel() {
      isCancelled = true
      current.cancel()
    },
  }
}

/** The parts that a part was rewritten as, with its usage: callers may have no event that shows it. */
function withUsage({ usage }: Part, written: readonly Part[]): readonly Part[] {
  if (usage === undefined || written.some((part) => part.usage !== undefined)) return written
  return [...written, emptyPart({ usage })]
}

/** Marks the last attempt at a provider as one that may be billed, although it did not become the answer. */
function markGivenUp(trail: Trail, name: string): void {
  const position = trail.findLastIndex((attempt) => attempt.name === name)
  const attempt = trail[position]
  if (attempt !== undefined) trail[position] = { ...attempt, ambiguous: true }
}

/** The place in one read of a stream from which text is new to the client. */
interface Beginning {
  readonly part: Part
  /** The end of the part's text that is new to the client. */
  readonly text: string
  /** The parts after it. */
  readonly more: readonly Part[]
}

/** Reads a stream past the text that the client has. `undefined`: its text differs, or ends before. */
async function readBeyond(stream: PartStream, sent: string): Promise<Beginning | undefined> {
  let replayed = 0
  for (;;) {
    const parts = await stream.read()
    if (parts === undefined) return undefined
    for (const [position, part] of parts.entries()) {
      const isFinished = part.finishReason !== undefined
      const more = parts.slice(position + 1)
      if (replayed === sent.length && (part.text !== '' || isFinished || part.isBeyondText)) {
        return { part, text: part.text, more }
      }
      const overlap = Math.min(part.text.length, sent.length - replayed)
      // Content other than text cannot be compared with the text that was sent.
      if (part.isBeyondText || !sent.startsWith(part.text.slice(0, overlap), replayed)) return undefined
      replayed += overlap
      if (overlap < part.text.length) return { part, text: part.text.slice(overlap), more }
      if (isFinished) return replayed === sent.length ? { part, text: '', more } : undefined
    }
  }
}

async function readMeaningful(stream: PartStream): Promise<Beginning | undefined> {
  for (;;) {
    const parts = await stream.read()
    if (parts === undefined) return undefined
    const first = parts.findIndex(({ isMeaningful }) => isMeaningful)
    const part = parts[first]
    if (part !== undefined) return { part, text: part.text, more: parts.slice(first + 1) }
  }
}

import type { ChatReply, StreamReply } from '../protocols/protocol.ts'
import type { Answer, Walk } from '../service/failover.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'
import type { ChatChunk } from '../wire/chat-chunk.ts'
import { appendMessage, type ChatRequest } from '../wire/chat-request.ts'
import { cutOff } from './all-failed.ts'
import type { ChatCandidate } from './provider.ts'
import { headOf, resumedChunk, type ChunkHead } from './resumed-chunk.ts'

const textLengthMost = 1024 * 1024

/** What {@link resumable} needs. */
export interface ResumeOptions {
  readonly first: StreamReply
  readonly request: ChatRequest
  readonly call: Call
  /** Goes on with those who were not asked yet. */
  readonly walk: Walk<ChatCandidate, ChatReply>
  /** Told who has taken the answer up, when the first of it goes to the client. */
  readonly onTakenUp?: (candidate: ChatCandidate) => void
  /** `false`: a cut is an error at once. */
  readonly isResumable: boolean
  /** Told when the request is not needed any more. */
  readonly letGo?: (() => void) | undefined
}

/**
 * A stream that survives cuts (failover.md, "A cut"): when it breaks off, the next provider is asked, its stream is
 * held back while its text equals what the client already has, and goes on from there; at the first difference that
 * attempt is given up. A provider that can continue an answer is asked to do so instead. Only plain text is resumed.
 *
 * @throws {WireError} when nobody could resume it exactly
 */
export function resumable(options: ResumeOptions): StreamReply {
  const { first, call, walk, onTakenUp, letGo } = options
  let current = first
  let head: ChunkHead | undefined
  let sent = ''
  let isResumable = options.isResumable
  let isResumed = false
  let isFinished = false
  let isCancelled = false
  /** Held only as long as somebody could be asked again: it may be large, and the stream long. */
  let request: ChatRequest | undefined = options.request
  if (!isResumable) forgetRequest()

  function forgetRequest(): void {
    if (request === undefined) return
    request = undefined
    letGo?.()
  }

  function remember(chunks: readonly ChatChunk[]): readonly ChatChunk[] {
    for (const chunk of chunks) {
      if (chunk.data.length > 0) head ??= headOf(chunk)
      if (chunk.isBeyondText) isResumable = false
      if (chunk.finishReason !== undefined) isFinished = true
      if (isResumable && chunk.text !== '') sent += chunk.text
    }
    if (sent.length > textLengthMost) isResumable = false
    if (!isResumable || isFinished) forgetRequest()
    return chunks
  }

  function remembered(chunks: readonly ChatChunk[] | undefined): readonly ChatChunk[] | undefined {
    return chunks === undefined ? undefined : remember(isResumed ? withHead(chunks, head) : chunks)
  }

  async function takeUpAfter(error: unknown): Promise<readonly ChatChunk[] | undefined> {
    if (isCancelled) return undefined
    if (!(error instanceof UpstreamFailure)) throw error
    if (!isResumable || isFinished || request === undefined) throw cutOff(error)
    const chunks = await resume(request, error)
    return chunks === undefined ? undefined : remember(chunks)
  }

  /**
   * Asks one after the other of those not asked yet; resolves with the first chunks that are new to the client,
   * `undefined` when it was cancelled.
   */
  async function resume(asked: ChatRequest, cut: UpstreamFailure): Promise<readonly ChatChunk[] | undefined> {
    for (;;) {
      if (isCancelled) return undefined
      const taken = await takeUp(asked, cut)
      if (isCancelled) {
        taken.stream.cancel()
        return undefined
      }
      current = taken.stream
      try {
        const chunks = taken.continues ? await readMeaningful(taken.stream) : await readBeyond(taken.stream, sent)
        if (chunks !== undefined && chunks.length > 0) {
          isResumed = true
          onTakenUp?.(taken.candidate)
          return withHead(chunks, head)
        }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
      }
      taken.stream.cancel()
    }
  }

  async function takeUp(
    asked: ChatRequest,
    cut: UpstreamFailure,
  ): Promise<{ readonly stream: StreamReply; readonly candidate: ChatCandidate; readonly continues: boolean }> {
    let continues = false
    let answer: Answer<ChatCandidate, ChatReply>
    try {
      answer = await walk.next(async (candidate) => {
        continues = candidate.continues
        if (!continues) return candidate.chat(asked, call)
        try {
          return await candidate.chat(appendMessage(asked, assistantMessage(sent)), call)
        } catch (error) {
          if (call.signal.aborted || !(error instanceof UpstreamFailure) || error.failure !== 'bad_request') throw error
          continues = false
          return candidate.chat(asked, call)
        }
      }, call)
    } catch (error) {
      throw call.signal.aborted ? error : cutOff(cut)
    }
    if (answer.reply.kind !== 'stream') throw cutOff(cut)
    return { stream: answer.reply, candidate: answer.candidate, continues }
  }

  return {
    kind: 'stream',
    isEmpty: first.isEmpty,
    read: () => current.read().then(remembered, takeUpAfter),
    cancel() {
      isCancelled = true
      current.cancel()
    },
  }
}

/** Reads a stream past the text the client has. `undefined`: it is another text, or ends before. */
async function readBeyond(stream: StreamReply, sent: string): Promise<readonly ChatChunk[] | undefined> {
  let replayed = 0
  for (;;) {
    const chunks = await stream.read()
    if (chunks === undefined) return undefined
    for (const [position, chunk] of chunks.entries()) {
      if (replayed === sent.length && (chunk.text !== '' || chunk.finishReason !== undefined || chunk.isBeyondText))
        return chunks.slice(position)
      const overlap = Math.min(chunk.text.length, sent.length - replayed)
      // What is beyond text cannot be told apart from what the client has not got.
      if (chunk.isBeyondText || !sent.startsWith(chunk.text.slice(0, overlap), replayed)) return undefined
      replayed += overlap
      if (overlap < chunk.text.length)
        return [resumedChunk(chunk, undefined, chunk.text.slice(overlap)), ...chunks.slice(position + 1)]
      if (chunk.finishReason !== undefined) {
        return replayed === sent.length
          ? [resumedChunk(chunk, undefined, ''), ...chunks.slice(position + 1)]
          : undefined
      }
    }
  }
}

async function readMeaningful(stream: StreamReply): Promise<readonly ChatChunk[] | undefined> {
  for (;;) {
    const chunks = await stream.read()
    if (chunks === undefined) return undefined
    const first = chunks.findIndex((chunk) => chunk.isMeaningful)
    if (first >= 0) return chunks.slice(first)
  }
}

function withHead(chunks: readonly ChatChunk[], head: ChunkHead | undefined): readonly ChatChunk[] {
  return chunks.map((chunk) => resumedChunk(chunk, head))
}

function assistantMessage(content: string): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ role: 'assistant', content }))
}

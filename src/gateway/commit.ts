import type { Ask } from '../formats/ask.ts'
import type { Part } from '../formats/part.ts'
import { readTo, type Receiver } from '../formats/receiver.ts'
import { readBy, type Reply, type StreamReply } from '../formats/reply.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'
import type { AnswerService } from './provider.ts'

const heldPartsMax = 64
const heldBytesMax = 256 * 1024
/** Longest time, in milliseconds, that reasoning is held which the caller does not see. */
const hiddenMsMax = 60_000

/**
 * Holds a stream back until it commits: until its first meaningful part, so that failover before it is invisible
 * (failover.md rule 3). Requests for a whole answer pass unchanged. An upstream that has shown progress gets more time
 * with each part, and may send any number of parts. Reasoning that the caller does not see commits the stream when more
 * than 256 KiB or 60 s of it came.
 *
 * @throws {UpstreamFailure} `empty` when the stream ends before, `malformed` when more than 64 parts or 256 KiB come
 *   before
 */
export function commit(inner: AnswerService): AnswerService {
  async function heldUntilCommit(request: Ask, call: Call): Promise<Reply> {
    const reply = await inner(request, call)
    if (reply.kind === 'whole') return reply
    const cancel = () => reply.cancel()
    call.signal.addEventListener('abort', cancel, { once: true })
    try {
      const held = await readUntilMeaningful(reply, call)
      if (!isEmpty(held)) return replay(reply, held, false)
      // It may be delivered after others were asked, when its connection is closed.
      const rest = await readRest(reply)
      if (call.signal.aborted) throw call.signal.reason
      const whole = [...held, ...rest]
      return replay(reply, whole, isEmpty(whole))
    } catch (error) {
      reply.cancel()
      throw error
    } finally {
      call.signal.removeEventListener('abort', cancel)
    }
  }
  return (request, call) => (request.stream ? heldUntilCommit(request, call) : inner(request, call))
}

async function readUntilMeaningful(reply: StreamReply, call: Call): Promise<readonly Part[]> {
  const beginning = new Beginning()
  for (;;) {
    const parts = await reply.read()
    if (parts === undefined) throw new UpstreamFailure('empty', 'the stream has no content', { status: 200 })
    const isMeaningful = parts.some((part) => part.isMeaningful)
    if (isMeaningful && beginning.held.length === 0) return parts
    beginning.add(parts)
    if (isMeaningful || beginning.hidesTooMuch) return beginning.held
    if (beginning.hasProgress) call.onProgress?.()
    beginning.check()
  }
}

/** The parts of a stream before its first meaningful one. */
class Beginning {
  readonly held: Part[] = []
  hasProgress = false
  #bytes = 0
  #hiddenSinceMs = Infinity

  /** Enough reasoning that the caller does not see was held. */
  get hidesTooMuch(): boolean {
    if (this.#hiddenSinceMs === Infinity) return false
    return this.#bytes > heldBytesMax || performance.now() - this.#hiddenSinceMs > hiddenMsMax
  }

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      this.held.push(part)
      this.#bytes += part.data.length
      this.hasProgress ||= part.isProgress === true
      if (part.isBeyondText) this.#hiddenSinceMs = Math.min(this.#hiddenSinceMs, performance.now())
    }
  }

  /** @throws {UpstreamFailure} for too many parts without content */
  check(): void {
    if ((this.held.length <= heldPartsMax || this.hasProgress) && this.#bytes <= heldBytesMax) return
    throw new UpstreamFailure('malformed', 'too many events without content', { status: 200 })
  }
}

/** Reads a stream that has finished to its end. */
async function readRest(reply: StreamReply): Promise<readonly Part[]> {
  const rest: Part[] = []
  for (let parts = await reply.read(); parts !== undefined; parts = await reply.read()) rest.push(...parts)
  return rest
}

function isEmpty(held: readonly Part[]): boolean {
  return (
    held.every((part) => part.text === '' && !part.isBeyondText) &&
    held.some((part) => part.finishReason === 'stop') &&
    held.at(-1)?.hasOpenChoice !== true
  )
}

function replay(reply: StreamReply, held: readonly Part[], isEmptyStream: boolean): Reply {
  let pending: readonly Part[] | undefined = held
  function replayTo(receiver: Receiver<readonly Part[]>): void {
    if (pending === undefined) return readTo(reply, receiver)
    const parts = pending
    pending = undefined
    queueMicrotask(() => {
      if (receiver.receive(parts)) readTo(reply, receiver)
    })
  }
  return readBy(reply, replayTo, isEmptyStream)
}

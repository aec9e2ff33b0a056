import type { TakenAnswer, TakenContent } from '../../content/taken-content.ts'
import type { LedgerPlace } from '../ledger-place.ts'
import { threadFile } from '../use/thread-file.ts'
import type { FromThread, ToThread } from '../use/thread-messages.ts'
import type { ContentThread } from './content-keeper.ts'
import type { ContentResult } from './content-writer.ts'

/** Starts a thread that writes content. It does not keep the process alive. */
export function startContentThread(place: LedgerPlace): ContentThread {
  const worker = new Worker(threadFile(), { name: 'svc-content' })
  const closed = Promise.withResolvers<void>()
  let open: PromiseWithResolvers<ContentResult> | undefined
  const send = (message: ToThread): void => worker.postMessage(message)

  worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
    if (data.kind === 'kept') open?.resolve(data)
  }
  // An error of the thread ends it; `close` follows.
  worker.onerror = (event) => event.preventDefault()
  worker.addEventListener('close', () => {
    open?.reject(new Error('the thread has ended'))
    closed.resolve()
  })
  worker.unref()
  return {
    write(taken, secrets) {
      open = Promise.withResolvers()
      send({ kind: 'content', place, taken: taken.map(withOwnBytes), secrets })
      return open.promise
    },
    close() {
      worker.ref()
      send({ kind: 'close' })
      return closed.promise
    },
  }
}

/** A view is sent with all of the memory behind it: bytes that are part of more are copied. */
function withOwnBytes({ question, answer, ...facts }: TakenContent): TakenContent {
  return {
    ...facts,
    question: { ...question, bytes: ownBytes(question.bytes) },
    ...(answer === undefined ? {} : { answer: answerWithOwnBytes(answer) }),
  }
}

function answerWithOwnBytes(answer: TakenAnswer): TakenAnswer {
  if (answer.kind !== 'whole') return answer
  return { kind: 'whole', sent: { ...answer.sent, bytes: ownBytes(answer.sent.bytes) } }
}

function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice()
}

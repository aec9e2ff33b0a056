import type { ContentQuestion, KeptContent } from '../content/content-question.ts'
import { nameOfPlace, type LedgerPlace } from '../ledger-place.ts'
import { LedgerUnavailable } from '../ledger.ts'
import type { OutcomeAnswer, OutcomeQuestion } from './outcome-question.ts'
import type { RequestSearch } from './search-requests.ts'
import { threadFile } from './thread-file.ts'
import type { FromThread, ThreadQuestion, ToThread } from './thread-messages.ts'
import type { UseAnswer, UseFilter, UseQuestion } from './use-question.ts'

/** Answers questions for the use, on a thread with a connection of its own that cannot write. */
export interface UseAsker {
  /** @throws {LedgerUnavailable} when the database cannot be read, or gives no answer in time */
  read(question: UseQuestion): Promise<UseAnswer>
  /** The cost since a local midnight in nano-USD. @param since Unix milliseconds; 0: all @throws as `read` does */
  costSince(filter: UseFilter, since: number): Promise<number>
  /** Speed and failures. @throws as `read` does */
  outcomes(question: OutcomeQuestion): Promise<OutcomeAnswer>
  /** Finds stored requests. Its methods throw as `read` does. */
  readonly requests: RequestSearch
  /** Content that is kept; `undefined`: there is none. @throws as `read` does */
  content(question: ContentQuestion): Promise<KeptContent | undefined>
  close(): void
}

export interface UseAskerOptions {
  readonly place: LedgerPlace
  /** Milliseconds without a question after which the thread ends. Default 60,000. */
  readonly idleMs?: number
  /** Milliseconds for an answer. Default 10,000. */
  readonly answerMs?: number
}

interface Open {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

/** The thread is started by the first question. */
export function useAsker({ place, idleMs = 60_000, answerMs = 10_000 }: UseAskerOptions): UseAsker {
  const open = new Map<number, Open>()
  let worker: Worker | undefined
  let idleTimer: Timer | undefined
  let last = 0

  function start(): Worker {
    const started = new Worker(threadFile(), { name: 'svc-ledger-reader' })
    started.onmessage = ({ data }: MessageEvent<FromThread>) => {
      if (data.kind === 'answer') open.get(data.id)?.resolve(data.answer)
      else if (data.kind === 'failed') open.get(data.id)?.reject(new LedgerUnavailable(data.reason))
    }
    started.onerror = (event) => event.preventDefault()
    started.addEventListener('close', () => {
      if (worker === started) stopped()
    })
    started.unref()
    return started
  }

  function stopped(): void {
    worker = undefined
    for (const { reject } of open.values())
      reject(new LedgerUnavailable(`the thread that reads ${nameOfPlace(place)} has ended`))
    open.clear()
  }

  /** The thread ends by itself. */
  function end(): void {
    clearTimeout(idleTimer)
    send({ kind: 'close' })
    worker = undefined
  }

  function send(message: ToThread): void {
    worker?.postMessage(message)
  }

  async function ask<Answer>(question: ThreadQuestion): Promise<Answer> {
    worker ??= start()
    clearTimeout(idleTimer)
    last += 1
    const id = last
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    // The thread answers each kind of question with its answer.
    // oxlint-disable-next-line typescript/consistent-type-assertions
    open.set(id, { resolve: (answer) => resolve(answer as Answer), reject })
    const timer = setTimeout(
      () => reject(new LedgerUnavailable(`${nameOfPlace(place)} gave no answer within ${answerMs} ms; try again`)),
      answerMs,
    )
    send({ kind: 'ask', id, place, question })
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      open.delete(id)
      if (open.size === 0 && worker !== undefined) {
        idleTimer = setTimeout(end, idleMs)
        idleTimer.unref()
      }
    }
  }

  return {
    read: (question) => ask({ kind: 'rows', question }),
    costSince: (filter, since) => ask({ kind: 'cost', filter, since }),
    outcomes: (question) => ask({ kind: 'outcomes', question }),
    requests: {
      page: (question) => ask({ kind: 'requests', question }),
      find: (scope, id) => ask({ kind: 'request', scope, id }),
      choices: (scope) => ask({ kind: 'choices', scope }),
      callers: () => ask({ kind: 'callers' }),
    },
    content: (question) => ask({ kind: 'content', question }),
    close: end,
  }
}

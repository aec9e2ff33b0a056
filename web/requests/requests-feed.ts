import type { RequestsAnswer } from '../../src/http/page/page-api.ts'
import type { MinuteSums } from '../../src/observe/request-entry.ts'
import type { ApiClient } from '../api/client.ts'
import { readEvents } from '../api/event-stream.ts'
import { createStore, type Store } from '../store.ts'
import { mergeMinutes } from './minutes.ts'
import { addRequests, type RequestRow } from './request-rows.ts'

const backOffMsFirst = 1_000
const backOffMsMax = 30_000
/** The first event has up to 1,000 requests with their attempts. */
const eventCharactersMax = 32 * 1024 * 1024

/** State of the requests view. */
export interface RequestsState {
  /** `connecting`: the first connection. */
  readonly connection: 'connecting' | 'live' | 'reconnecting'
  /** Newest first. Absent before the first event. */
  readonly rows?: readonly RequestRow[]
  /** Oldest first. */
  readonly minutes: readonly MinuteSums[]
  /** Why the connection is not live. */
  readonly error?: Error
}

/** The service's requests, live. */
export interface RequestsFeed {
  readonly state: Store<RequestsState>
  /** Follows the requests until `signal` is aborted, and reconnects. Never rejects. */
  follow(signal: AbortSignal): Promise<void>
}

export interface RequestsFeedOptions {
  readonly client: Pick<ApiClient, 'fetch'>
  /** Resolves after a time, or when the signal is aborted. Replaced in tests. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Creates a feed. It connects when it is followed. */
export function requestsFeed({ client, wait = waitFor }: RequestsFeedOptions): RequestsFeed {
  const state = createStore<RequestsState>({ connection: 'connecting', minutes: [] })

  /** Reads one connection to its end. @param onEvent called for each event */
  async function listen(signal: AbortSignal, onEvent: () => void): Promise<void> {
    const response = await client.fetch('/api/requests', { headers: { accept: 'text/event-stream' }, signal })
    let isFirst = true
    for await (const { data } of readEvents(response, eventCharactersMax)) {
      const answer = JSON.parse(data) as RequestsAnswer
      state.update((before) => merge(isFirst ? { minutes: [] } : before, answer))
      isFirst = false
      onEvent()
    }
  }

  return {
    state,
    async follow(signal) {
      let backOffMs = backOffMsFirst
      const onEvent = (): void => {
        backOffMs = backOffMsFirst
      }
      while (!signal.aborted) {
        const error = await listen(signal, onEvent).then(() => undefined, asError)
        if (signal.aborted) break
        state.update(({ error: _, ...known }) => ({
          ...known,
          connection: known.rows === undefined ? 'connecting' : 'reconnecting',
          ...(error === undefined ? {} : { error }),
        }))
        await wait(backOffMs, signal)
        backOffMs = Math.min(backOffMsMax, backOffMs * 2)
      }
    },
  }
}

function merge({ rows = [], minutes }: Pick<RequestsState, 'rows' | 'minutes'>, answer: RequestsAnswer): RequestsState {
  return {
    connection: 'live',
    rows: addRequests(rows, answer.requests),
    minutes: mergeMinutes(minutes, answer.minutes),
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    resolve()
  }
  const timer = setTimeout(end, ms)
  signal.addEventListener('abort', end)
  return promise
}

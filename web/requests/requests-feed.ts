import type { MinuteEntry, RequestsAnswer } from '../../src/http/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import { readEvents } from '../api/event-stream.ts'
import { createStore, type Store } from '../store.ts'
import { mergeMinutes } from './minutes.ts'
import { addRequests, type RequestRow } from './request-rows.ts'

const backOffMsFirst = 1_000
const backOffMsMost = 30_000
/** The first event tells of 1,000 requests, each with every attempt. */
const eventCharactersMax = 32 * 1024 * 1024

/** What is known of the requests. */
export interface RequestsState {
  /** `connecting`: for the first time. */
  readonly connection: 'connecting' | 'live' | 'reconnecting'
  /** Newest first. Absent: nothing was told yet. */
  readonly rows?: readonly RequestRow[]
  /** Oldest first. */
  readonly minutes: readonly MinuteEntry[]
  /** Why it is not live. */
  readonly error?: Error
}

/** The requests as the service tells of them. */
export interface RequestsFeed {
  readonly state: Store<RequestsState>
  /** Follows them, through lost connections, until `signal` is aborted. Never rejects. */
  follow(signal: AbortSignal): Promise<void>
}

/** What {@link requestsFeed} needs. */
export interface RequestsFeedOptions {
  readonly client: Pick<ApiClient, 'fetch'>
  /** Resolves after so long, or when the signal is aborted; for tests, another. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** A feed that nobody follows yet. */
export function requestsFeed({ client, wait = waitFor }: RequestsFeedOptions): RequestsFeed {
  const state = createStore<RequestsState>({ connection: 'connecting', minutes: [] })

  /** One connection, to its end. Returns whether anything was told on it. */
  async function listen(signal: AbortSignal, told: () => void): Promise<void> {
    const response = await client.fetch('/api/requests', { headers: { accept: 'text/event-stream' }, signal })
    let isFirst = true
    for await (const { data } of readEvents(response, eventCharactersMax)) {
      const answer: RequestsAnswer = JSON.parse(data)
      state.update((before) => take(isFirst ? { minutes: [] } : before, answer))
      isFirst = false
      told()
    }
  }

  return {
    state,
    async follow(signal) {
      let backOffMs = backOffMsFirst
      const told = (): void => {
        backOffMs = backOffMsFirst
      }
      while (!signal.aborted) {
        const error = await listen(signal, told).then(() => undefined, asError)
        if (signal.aborted) break
        state.update(({ error: _, ...known }) => ({
          ...known,
          connection: known.rows === undefined ? 'connecting' : 'reconnecting',
          ...(error === undefined ? {} : { error }),
        }))
        await wait(backOffMs, signal)
        backOffMs = Math.min(backOffMsMost, backOffMs * 2)
      }
    },
  }
}

function take({ rows = [], minutes }: Pick<RequestsState, 'rows' | 'minutes'>, answer: RequestsAnswer): RequestsState {
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

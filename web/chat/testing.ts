import type { RequestEntry } from '../../src/observe/request-entry.ts'
import { ApiError, type ApiClient } from '../api/client.ts'
import type { AssistantMessage, ImageAttachment, UserMessage } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import type { FrameClock } from './frame-scheduler.ts'

/** A person's message, at time 0. */
export function userMessage(text: string, images: readonly ImageAttachment[] = []): UserMessage {
  return { role: 'user', id: newId(), time: 0, text, images }
}

/** A complete answer at time 0; `more` replaces and adds members. */
export function answerMessage(more: Partial<AssistantMessage> = {}): AssistantMessage {
  return { role: 'assistant', id: newId(), time: 0, text: 'answer', reasoning: '', status: 'complete', ...more }
}

/** Frames and timers that a test triggers. */
export interface FakeScheduler extends FrameClock {
  /** Runs the next animation frame. */
  frame(): void
  /** Runs all timers. */
  timers(): void
  /** Number of pending frames and timers. */
  due(): number
}

/** Creates fake frames. */
export function fakeScheduler(): FakeScheduler {
  const waiting = { frames: new Map<number, () => void>(), timers: new Map<number, () => void>() }
  let handles = 0
  const add = (map: Map<number, () => void>, run: () => void): number => {
    map.set(++handles, run)
    return handles
  }
  const runAll = (map: Map<number, () => void>): void => {
    const all = [...map.values()]
    map.clear()
    for (const run of all) run()
  }
  return {
    requestAnimationFrame: (run) => add(waiting.frames, run),
    cancelAnimationFrame: (handle) => void waiting.frames.delete(handle),
    setTimeout: (run) => add(waiting.timers, run),
    clearTimeout: (handle) => void waiting.timers.delete(handle),
    frame: () => runAll(waiting.frames),
    timers: () => runAll(waiting.timers),
    due: () => waiting.frames.size + waiting.timers.size,
  }
}

/** A request to the service, answered by a test. */
export interface FakeRequest {
  readonly path: string
  /** The request body; `undefined` without one. */
  readonly body: unknown
  readonly requestId: string
  readonly answerId: string
  readonly signal: AbortSignal
  /** Starts a stream. */
  stream(headers?: Readonly<Record<string, string>>): void
  /** Sends chunks with these texts. */
  say(...texts: readonly string[]): void
  /** Starts a stream with these texts, and waits until they have arrived. */
  begins(...texts: readonly string[]): Promise<void>
  /** Sends these texts, and waits. */
  says(...texts: readonly string[]): Promise<void>
  /** Ends the stream, and waits. */
  ends(how?: 'done' | 'cut' | 'break'): Promise<void>
  /** Rejects, and waits. */
  fails(error: Error): Promise<void>
  /** Sends an event. */
  event(data: unknown): void
  /** Ends the stream: completely, or as if the service had died. */
  end(how?: 'done' | 'cut' | 'break'): void
  /** Ends the stream as an answer that was stopped. */
  stopped(): void
  answer(response: Response): void
  fail(error: Error): void
}

/** A client whose responses come from a test. */
export interface FakeClient extends Pick<ApiClient, 'fetch' | 'get'> {
  readonly exchanges: readonly FakeRequest[]
  /** Whether the service has the answers of earlier requests. Reading one is a request, too. */
  keepsAnswers: boolean
  /** Paths of answers that were stopped. */
  readonly stopped: readonly string[]
  /** The last request. @throws without a request */
  last(): FakeRequest
  /** The service's records. */
  readonly records: Map<string, RequestEntry>
  /** The paths requested with `get`. */
  readonly read: readonly string[]
}

/** Creates a fake client. */
export function fakeClient(): FakeClient {
  const exchanges: FakeRequest[] = []
  const records = new Map<string, RequestEntry>()
  const read: string[] = [],
    stopped: string[] = []
  return {
    exchanges,
    stopped,
    keepsAnswers: false,
    records,
    read,
    last() {
      const last = exchanges.at(-1)
      if (last === undefined) throw new Error('nothing was asked')
      return last
    },
    fetch(path, options = {}) {
      if (options.method === 'DELETE') {
        stopped.push(path)
        return Promise.resolve(new Response(null, { status: 204 }))
      }
      if (options.method === undefined && !this.keepsAnswers) return Promise.reject(apiError(404, 'answer_not_found'))
      const answered = Promise.withResolvers<Response>()
      exchanges.push(fakeRequest(path, options, answered))
      return answered.promise
    },
    get<Answer>(path: string): Promise<Answer> {
      read.push(path)
      const record = records.get(path.replace('/api/requests/', ''))
      // The test sets the records.
      return record === undefined
        ? Promise.reject(apiError(404, 'not_found'))
        : new Response(JSON.stringify(record)).json()
    },
  }
}

function fakeRequest(
  path: string,
  { body, headers, signal }: RequestInit,
  answered: PromiseWithResolvers<Response>,
): FakeRequest {
  const aborted = signal ?? new AbortController().signal
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined
  const send = (text: string): void => sink?.enqueue(new TextEncoder().encode(text))
  aborted.addEventListener('abort', () => {
    answered.reject(aborted.reason)
    sink?.error(aborted.reason)
    sink = undefined
  })
  return {
    path,
    body: body === undefined ? undefined : JSON.parse(String(body)),
    requestId: new Headers(headers).get('x-request-id') ?? '',
    answerId: new Headers(headers).get('x-svc-answer') ?? '',
    signal: aborted,
    stream(more = {}) {
      const source = new ReadableStream<Uint8Array>({
        start(controller) {
          sink = controller
        },
      })
      answered.resolve(new Response(source, { headers: { 'content-type': 'text/event-stream', ...more } }))
    },
    say(...texts) {
      for (const content of texts) this.event({ choices: [{ delta: { content } }] })
    },
    begins(...texts) {
      this.stream()
      return this.says(...texts)
    },
    says(...texts) {
      this.say(...texts)
      return settled()
    },
    ends(how) {
      this.end(how)
      return settled()
    },
    fails(error) {
      answered.reject(error)
      return settled()
    },
    event: (data) => send(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`),
    end(how = 'done') {
      if (how === 'break') sink?.error(new TypeError('network error'))
      else {
        if (how === 'done') send('data: [DONE]\n\n')
        sink?.close()
      }
      sink = undefined
    },
    stopped() {
      send('event: stopped\ndata: {}\n\n')
      this.end('cut')
    },
    answer: answered.resolve,
    fail: answered.reject,
  }
}

/** An error response. */
export function apiError(status: number, code: string, headers: Readonly<Record<string, string>> = {}): ApiError {
  return new ApiError(new Response(null, { status, headers }), {
    error: { message: 'No.', type: 'api_error', code, param: null },
  })
}

/** Resolves when all pending promises have settled, except timers. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve))
}

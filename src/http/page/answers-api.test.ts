import { afterEach, describe, expect, jest, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { callerOf } from '../../people/caller-of.ts'
import type { Caller } from '../../people/person.ts'
import { ownTimers } from '../../service/shared-timers.ts'
import type { EventStreamSink } from '../entrance/event-stream-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { answersApi, readForOther, withoutConnection, type OtherAnswers } from './answers-api.ts'
import { keptAnswers, keptLimits, type KeptLimits } from './kept-answers.ts'

afterEach(() => void jest.useRealTimers())

const id = 'answer-0123456789'
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

interface Asking {
  readonly caller?: Caller
  readonly id?: string
  readonly signal?: AbortSignal
}

/** The routes over a fake of chat completions, whose stream the test writes. */
function subject({
  limits = {},
  others,
  answer,
}: { readonly limits?: Partial<KeptLimits>; readonly others?: OtherAnswers; readonly answer?: () => Response } = {}) {
  const answers = keptAnswers(ownTimers, () => false, { ...keptLimits, ...limits })
  let sink: EventStreamSink | undefined
  const seen: HandlerContext[] = []
  let current = async (caller: Caller): Promise<Caller> => caller
  const calls: string[] = []
  const routes = router(
    answersApi({
      answers,
      others,
      stallMs: 30_000,
      chat: {
        path: '/v1/chat/completions',
        handle(context) {
          seen.push(context)
          if (answer !== undefined) return answer()
          context.keep?.((to) => {
            sink = to
            return new Promise(() => undefined)
          })
          return new Response(null, { headers: { 'content-type': 'text/event-stream', 'x-svc-provider': 'a' } })
        },
      },
    }),
  )

  async function call(method: string, path: string, { caller = {}, id: given = id, signal }: Asking = {}) {
    const request = new Request(`http://x${path}`, {
      method,
      headers: { 'x-svc-answer': given },
      ...(signal === undefined ? {} : { signal }),
    })
    const context: HandlerContext = {
      ...contextOf(request),
      id: 'request',
      caller,
      currentCaller: () => current(caller),
      drop: () => void calls.push('drop'),
      keepOpen: () => void calls.push('keep open'),
      resetIdleLimit: () => void calls.push('let close'),
      extendIdleLimit: () => void calls.push('let read'),
    }
    return await routes.find(method, new URL(request.url).pathname).handle(context)
  }

  return {
    answers,
    seen,
    calls,
    ask: (asking?: Asking) => call('POST', '/api/chat', asking),
    read: (query = '', asking?: Asking) => call('GET', `/api/answers/${id}${query}`, asking),
    head: (asking?: Asking) => call('HEAD', `/api/answers/${id}`, asking),
    stop: (asking?: Asking) => call('DELETE', `/api/answers/${id}`, asking),
    write: (text: string) => sink?.write(bytes(text)),
    end: () => sink?.end(),
    /** Sets the result of the guards. */
    guards(next: typeof current) {
      current = next
    },
  }
}

const codeOf = (answering: Promise<Response>): Promise<unknown> =>
  answering.then(
    ({ status }) => status,
    (error: unknown) => (error instanceof WireError ? `${error.status} ${error.code}` : error),
  )

const ada = callerOf({ user: 'ada', userId: '1' }),
  bob = callerOf({ user: 'bob', userId: '2' })

describe('an answer to the page', () => {
  test('is asked for as at its path of the API, and does not depend on the connection', async () => {
    const { ask, seen, write, end, calls } = subject()
    const abort = new AbortController()
    const response = await ask({ caller: ada, signal: abort.signal })
    const [inner] = seen
    expect([inner?.path, inner?.id, inner?.caller]).toEqual(['/v1/chat/completions', 'request', ada])
    inner?.drop()
    inner?.resetIdleLimit()
    expect(calls).toEqual(['keep open'])
    write('data: 1\n\n')
    const reading = response.text()
    write('data: 2\n\n')
    end()
    expect([await reading, response.headers.get('x-svc-provider')]).toEqual(['data: 1\n\ndata: 2\n\n', 'a'])
    expect(calls).toEqual(['keep open', 'let close'])
  })

  test('goes on when its reader leaves, until it is stopped', async () => {
    const { ask, seen, read, write, end, stop } = subject()
    const abort = new AbortController()
    await ask({ signal: abort.signal })
    write('half')
    abort.abort()
    expect(seen[0]?.left?.aborted).toBe(false)
    write(' and half')
    const again = await read('?from=4')
    end()
    expect(await again.text()).toBe(' and half')
    const other = subject()
    await other.ask()
    expect((await other.stop()).status).toBe(204)
    expect(other.seen[0]?.left?.aborted).toBe(true)
    expect((await stop()).status).toBe(204)
  })

  test('is found by its user only', async () => {
    const { ask, read, stop, seen } = subject()
    await ask({ caller: ada })
    const others = [{ user: 'ada' }, { user: '1' }, { user: 'eve', userId: 'ada' }].map(callerOf)
    for (const caller of [bob, {}, ...others])
      expect([caller, await codeOf(read('', { caller }))]).toEqual([caller, '404 answer_not_found'])
    expect(await codeOf(stop({ caller: bob }))).toBe(204)
    expect(seen[0]?.left?.aborted).toBe(false)
    expect(await codeOf(read('', { caller: callerOf({ user: 'renamed', userId: '1' }) }))).toBe(200)
  })

  test('is not read on with a session that has ended, while it goes on for another one', async () => {
    const elsewhere = { ...ada }
    const refusal = new WireError(401, 'authentication_error', 'invalid_session', 'No session')
    const { ask, read, guards, write, answers, calls } = subject()
    await ask({ caller: ada })
    const there = (await read('', { caller: elsewhere })).body?.getReader()
    write('data: 1\n\n')
    expect((await there?.read())?.value).toEqual(bytes('data: 1\n\n'))
    guards((caller) => (caller === elsewhere ? Promise.reject(refusal) : Promise.resolve(caller)))
    jest.useFakeTimers()
    jest.setSystemTime(Date.now() + 5_000)
    void there?.read().catch(() => undefined)
    write('data: 2\n\n')
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    expect([calls.includes('drop'), answers.find({ owner: 'id:1', id })?.isOver]).toEqual([true, false])
  })

  test('ends soon after its user signs out, or is another one', async () => {
    jest.useFakeTimers()
    const refusal = new WireError(401, 'authentication_error', 'invalid_session', 'No session')
    for (const next of [() => Promise.reject(refusal), async () => bob]) {
      const { ask, seen, guards } = subject()
      await ask({ caller: ada })
      jest.advanceTimersByTime(5_000)
      await Promise.resolve()
      expect(seen[0]?.left?.aborted).toBe(false)
      guards(() => Promise.reject(new WireError(503, 'api_error', 'overloaded', 'The store does not answer')))
      jest.advanceTimersByTime(5_000)
      await new Promise((resolve) => process.nextTick(resolve))
      expect(seen[0]?.left?.aborted).toBe(false)
      guards(next)
      jest.advanceTimersByTime(5_000)
      await new Promise((resolve) => process.nextTick(resolve))
      expect(seen[0]?.left?.aborted).toBe(true)
    }
  })

  test('that is no stream is kept as a whole, also an error', async () => {
    const { ask, read, head, calls } = subject({
      answer: () => new Response('{"error":{}}', { status: 502, headers: { 'x-svc-trail': 'a;status=500' } }),
    })
    for (const response of [await ask(), await read(), await read()])
      expect([response.status, response.headers.get('x-svc-trail'), await response.text()]).toEqual([
        502,
        'a;status=500',
        '{"error":{}}',
      ])
    expect([(await head()).status, await (await head()).text()]).toEqual([502, ''])
    expect(calls.slice(0, 2)).toEqual(['keep open', 'let read'])
  })

  test('whose reader left before it was sent is not found', async () => {
    const { ask, read } = subject({ answer: () => new Response('', { status: 499 }) })
    expect((await ask()).status).toBe(499)
    expect(await codeOf(read())).toBe('404 answer_not_found')
  })

  test('that fails to begin is not found', async () => {
    const { ask, read } = subject({
      answer() {
        throw new Error('broken')
      },
    })
    expect(await codeOf(ask())).toEqual(new Error('broken'))
    expect(await codeOf(read())).toBe('404 answer_not_found')
  })

  test('above a limit of number is answered as one to a program', async () => {
    const { ask, seen, read } = subject({ limits: { answersOfOne: 0 } })
    expect((await ask()).status).toBe(200)
    expect([seen[0]?.keep, await codeOf(read())]).toEqual([undefined, '404 answer_not_found'])
  })

  test('needs an id that nothing else can be', async () => {
    const { ask, read } = subject()
    for (const given of ['', 'short', 'x'.repeat(65), 'answer 0123456789', `${id}/..`])
      expect([given, await codeOf(ask({ id: given }))]).toEqual([given, '400 invalid_value'])
    await ask()
    expect(await codeOf(ask())).toBe('409 answer_exists')
    for (const from of ['-1', '', '1.5', '1e3', 'NaN', '9'.repeat(13), ' 1'])
      expect([from, await codeOf(read(`?from=${from}`))]).toEqual([from, '400 invalid_value'])
    expect(await codeOf(read('?from=1'))).toBe('404 answer_not_found')
  })
})

test('a refusal without its connection counts for the client all the same', () => {
  const refused: string[] = []
  const context = {
    ...contextOf(new Request('http://x/')),
    onRefusal: ({ code }: WireError) => void refused.push(code),
  }
  withoutConnection(context, '/v1').onRefusal?.(new WireError(429, 'rate_limit_error', 'rate_limit_exceeded', 'Wait'))
  expect(refused).toEqual(['rate_limit_exceeded'])
})

describe('an answer in another process', () => {
  test('is read from there piece by piece, and stopped there', async () => {
    const stopped: unknown[] = []
    const { answers, ask, write, end } = subject()
    const { read, stop } = subject({
      others: {
        read: (wanted) => readForOther(answers, wanted),
        stop: (name) => void stopped.push(name),
        claim: async () => true,
        release: () => undefined,
      },
    })
    await ask({ caller: ada })
    const text = 'x'.repeat(40_000)
    write(text)
    const response = await read('?from=1', { caller: ada })
    expect([response.status, response.headers.get('x-svc-provider')]).toEqual([200, 'a'])
    const reading = response.text()
    write(' end')
    end()
    expect(await reading).toBe(`${text.slice(1)} end`)
    expect(await codeOf(read('', { caller: bob }))).toBe('404 answer_not_found')
    await stop({ caller: ada })
    expect(stopped).toEqual([{ owner: 'id:1', id }])
  })

  test('that is too large to be kept is not read from there', async () => {
    const { answers, ask, write } = subject({ limits: { bytesOfOne: 16 * 1024 } })
    await ask()
    write('x'.repeat(20_000))
    expect(await readForOther(answers, { owner: '', id, from: 0 })).toBeUndefined()
  })
})

import { describe, expect, test } from 'bun:test'
import { chat, parseJson, pick, question } from '../client.ts'
import type { Exchange, Script } from '../fakes/fault-upstream.ts'
import { status } from '../fakes/faults/status.ts'
import { good } from '../fakes/good.ts'
import { startGithub } from '../fakes/identity/github.ts'
import { chunk, event, framed, reply, streamHead } from '../fakes/replies.ts'
import { provider } from '../harness.ts'
import { startRig } from '../rig.ts'
import { startSignIn } from '../sign-in/rig.ts'

const priced = { models: [{ name: 'm', price: { input: 100, output: 1_000 } }] }

/** Sends 80 letters of an answer, and no end. */
async function begun(exchange: Exchange): Promise<void> {
  await exchange.write(
    Buffer.concat([
      Buffer.from(streamHead),
      framed(
        event(chunk({ role: 'assistant', content: '' })) +
          event(chunk({ content: 'y'.repeat(73) })) +
          event(chunk({ content: 'the end' })),
      ),
    ]),
  )
}

async function stillTalking(exchange: Exchange): Promise<void> {
  await begun(exchange)
  await exchange.hang()
}

async function cutOff(exchange: Exchange): Promise<void> {
  await begun(exchange)
  await exchange.pause(20)
  exchange.reset()
}

async function get(url: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  return parseJson(await (await fetch(`${url}${path}`, { headers })).text())
}

/** Recent requests of the API, oldest first. */
async function remembered(url: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly unknown[]> {
  return requestsIn(await get(url, '/api/requests', headers))
}

function requestsIn(answer: unknown): readonly unknown[] {
  const requests = pick(answer, 'requests')
  if (!Array.isArray(requests)) throw new Error(`no requests: ${JSON.stringify(answer)}`)
  return requests
}

/** Polls until there is a value. @throws after five seconds */
async function eventually<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let round = 0; round < 500; round++) {
    const found = await look()
    if (found !== undefined) return found
    await Bun.sleep(10)
  }
  throw new Error('it did not come to be')
}

/** Follows the requests. `next` resolves with the next event, `undefined` at the end. Comments are skipped. */
async function follow(url: string, headers: Readonly<Record<string, string>> = {}) {
  const controller = new AbortController()
  const response = await fetch(`${url}/api/requests`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  })
  const events = eventsOf(response)
  return {
    response,
    next: async (): Promise<unknown> => (await events.next()).value,
    leave: () => controller.abort(),
  }
}

async function* eventsOf(response: Response): AsyncGenerator<unknown, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of response.body ?? []) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) if (block.startsWith('data: ')) yield parseJson(block.slice(6))
  }
  return undefined
}

describe('the requests that are remembered', () => {
  test('have what one came to, with its cost', async () => {
    await using rig = await startRig([good()], { each: { a: priced } })
    const before = Date.now()
    await rig.ask({}, { 'x-request-id': 'first' })
    await rig.askStream({ stream_options: { include_usage: true } }, { 'x-request-id': 'second' })
    const [first, second] = await remembered(rig.service.url)
    // 3 tokens for 100 and 5 for 1,000 USD a million.
    expect(first).toEqual({
      time: expect.any(Number),
      id: 'first',
      api: 'chat',
      model: 'm',
      stream: false,
      status: 200,
      provider: 'a',
      trail: [{ provider: 'a', status: 200, ms: expect.any(Number) }],
      totalMs: expect.any(Number),
      promptTokens: 3,
      completionTokens: 5,
      cost: 0.0053,
      costSource: 'config',
    })
    expect(second).toMatchObject({ id: 'second', stream: true, firstTokenMs: expect.any(Number) })
    expect(pick(first, 'time')).toBeGreaterThanOrEqual(before - 1_000)
    expect(await get(rig.service.url, '/api/requests/second')).toEqual(second)
    const minutes = pick(await get(rig.service.url, '/api/requests'), 'minutes')
    // The two requests may be in different minutes.
    const sum = (field: string) =>
      Array.isArray(minutes)
        ? minutes.reduce((total: number, minute: unknown) => total + Number(pick(minute, field)), 0)
        : undefined
    expect(['requests', 'errors', 'promptTokens'].map(sum)).toEqual([2, 0, 6])
  })

  test('show a failover, and the cost of each provider', async () => {
    await using rig = await startRig([status(429), good()], {
      each: { a: { models: [{ name: 'm', price: { input: 1, output: 1 } }] }, b: priced },
    })
    await rig.ask()
    expect(await remembered(rig.service.url)).toMatchObject([
      {
        status: 200,
        provider: 'b',
        cost: 0.0053,
        trail: [
          { provider: 'a', status: 429, failure: 'rate_limit' },
          { provider: 'b', status: 200 },
        ],
      },
    ])
  })

  test('include the cost of cache writes of Anthropic', async () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      output_tokens: 1,
    }
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hi' }],
    }
    const script: Script = ({ write }) =>
      write(reply(200, JSON.stringify({ ...message, stop_reason: 'end_turn', usage })))
    await using rig = await startRig([script], { every: { ...priced, protocol: 'anthropic' } })
    await rig.ask()
    // USD per million tokens: 100 for cache reads, 125 and 200 for cache writes, 1,000 for the answer.
    const cost = (10 * 100 + 20 * 125 + 10 * 200 + 1_000) / 1_000_000
    expect(await remembered(rig.service.url)).toMatchObject([{ promptTokens: 40, completionTokens: 1, cost }])
  })

  test('show a failure of all providers and one of the caller, without a serving provider', async () => {
    await using rig = await startRig([status(500)])
    await rig.ask()
    await rig.ask({ model: 'none' })
    await chat(rig.service.url, '{')
    const requests = await remembered(rig.service.url)
    expect(requests).toMatchObject([
      { status: 502, error: 'provider_error', trail: [{ provider: 'a', status: 500, failure: 'server_error' }] },
      { status: 404, error: 'model_not_found', model: 'none', trail: [] },
      { status: 400, error: 'invalid_json', model: '', trail: [] },
    ])
    for (const request of requests) expect(request).not.toHaveProperty('provider')
  })

  test('show a caller that left', async () => {
    await using rig = await startRig([good({ tokens: 1_000, pauseMs: 5 })])
    const controller = new AbortController()
    const answer = await fetch(`${rig.service.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(question({ stream: true })),
      signal: controller.signal,
    })
    expect(answer.status).toBe(200)
    controller.abort()
    const request = await eventually(async () => (await remembered(rig.service.url))[0])
    expect(request).toMatchObject({
      status: 499,
      error: 'client_left',
      provider: 'a',
      trail: [{ provider: 'a', status: 200 }],
    })
  })

  test('estimate the tokens and the cost of an aborted answer, and mark the estimate', async () => {
    // The upstream sends no usage before its end.
    await using rig = await startRig([stillTalking], { each: { a: priced } })
    const controller = new AbortController()
    const body = JSON.stringify(question({ stream: true, messages: [{ role: 'user', content: 'x'.repeat(360) }] }))
    const answer = await fetch(`${rig.service.url}/v1/chat/completions`, {
      method: 'POST',
      body,
      signal: controller.signal,
    })
    const reader = answer.body?.getReader()
    let text = ''
    while (!text.includes('the end')) text += new TextDecoder().decode((await reader?.read())?.value)
    controller.abort()
    const request = await eventually(async () => (await remembered(rig.service.url))[0])
    // Some 400 bytes of messages, 80 letters of answer.
    expect(request).toMatchObject({ status: 499, completionTokens: 20, isEstimated: true })
    const prompt = Number(pick(request, 'promptTokens'))
    expect(prompt).toBeWithin(95, 110)
    expect(pick(request, 'cost')).toBeCloseTo((prompt * 100 + 20 * 1_000) / 1_000_000, 10)
    expect(pick(await get(rig.service.url, '/api/requests'), 'minutes')).toMatchObject([
      { promptTokens: prompt, completionTokens: 20, isEstimated: true },
    ])
    // The log is a separate pipe: its line may arrive after the answer of the API.
    const line = await eventually(() => Promise.resolve(rig.service.logs.find(({ message }) => message === 'request')))
    expect(line).toMatchObject({ status: 499, completion_tokens: 20, tokens_estimated: true })
    // Counters contain no estimates.
    expect(await (await fetch(`${rig.service.url}/metrics`)).text()).not.toMatch(/svc_tokens_total\{[^}]*\} [1-9]/)
  })

  test('estimate those of an answer that was cut, and count one that ended as its provider does', async () => {
    await using rig = await startRig([cutOff], { each: { a: priced } })
    await rig.askStream()
    expect(await remembered(rig.service.url)).toMatchObject([
      { status: 200, error: 'provider_error', completionTokens: 20, cost: expect.any(Number), isEstimated: true },
    ])
    await using well = await startRig([good()], { each: { a: priced } })
    await well.askStream({ stream_options: { include_usage: true } })
    const [request] = await remembered(well.service.url)
    expect([pick(request, 'promptTokens'), pick(request, 'isEstimated')]).toEqual([3, undefined])
  })

  test('contain no text of questions and answers', async () => {
    await using rig = await startRig([good({ name: 'said' })])
    await rig.ask({ messages: [{ role: 'user', content: 'whispered' }] }, { authorization: 'Bearer mine' })
    const text = await (await fetch(`${rig.service.url}/api/requests`)).text()
    expect(text).toContain('"status":200')
    expect(text).not.toMatch(/said|whispered|mine/)
  })

  test('are asked for without a body being sent for HEAD', async () => {
    await using rig = await startRig([good()])
    const [whole, live] = await Promise.all(
      [{}, { accept: 'text/event-stream' }].map((headers) =>
        fetch(`${rig.service.url}/api/requests`, { method: 'HEAD', headers }),
      ),
    )
    expect([
      whole?.status,
      whole?.headers.get('content-type'),
      live?.status,
      live?.headers.get('content-type'),
    ]).toEqual([200, 'application/json', 200, 'text/event-stream; charset=utf-8'])
    expect([await whole?.text(), await live?.text()]).toEqual(['', ''])
  })
})

describe.each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('a request under way in %s', (_, flags) => {
  async function underWay(second: Script) {
    const rig = await startRig([status(429), second], { flags })
    const controller = new AbortController()
    const asking = fetch(`${rig.service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-request-id': 'mine' },
      body: JSON.stringify(question({ stream: true })),
      signal: controller.signal,
    }).catch(() => undefined)
    /** On a new connection, which any worker may get. */
    const running = async (id: string) =>
      requestsIn(await get(rig.service.url, `/api/running?id=${id}`, { connection: 'close' }))
    const found = (isWanted: (request: unknown) => boolean) =>
      eventually(async () => (await running('mine')).find(isWanted))
    const leave = async (): Promise<unknown> => {
      controller.abort()
      await asking
      return eventually(async () => (await remembered(rig.service.url))[0])
    }
    return { rig, running, found, leave }
  }

  test('names the provider that is asked, since when, and those that failed, as its record does', async () => {
    const { rig, running, found, leave } = await underWay(({ hang }) => hang())
    await using _rig = rig
    const first = await found((request) => pick(request, 'asking', 'provider') === 'b')
    const ms = Number(pick(first, 'asking', 'ms'))
    const failed = { provider: 'a', status: 429, failure: 'rate_limit', ms: expect.any(Number) }
    expect(first).toMatchObject({ id: 'mine', trail: [failed], asking: { provider: 'b' } })
    const later = await found((request) => Number(pick(request, 'asking', 'ms')) > ms)
    expect(await running('other')).toEqual([])
    expect(pick(await leave(), 'trail')).toEqual(pick(later, 'trail'))
  })

  test('is asking no provider once one answers', async () => {
    const { rig, found, leave } = await underWay(stillTalking)
    await using _rig = rig
    const request = await found((each) => pick(each, 'firstTokenMs') !== undefined)
    expect(pick(request, 'asking')).toBeUndefined()
    expect(pick(request, 'trail')).toMatchObject([{ provider: 'a' }, { provider: 'b', status: 200 }])
    await leave()
  })
})

describe('followers of the requests', () => {
  test('has a new one within a second', async () => {
    await using rig = await startRig([good()])
    await rig.ask({}, { 'x-request-id': 'old' })
    const { next, leave } = await follow(rig.service.url)
    expect(requestsIn(await next())).toMatchObject([{ id: 'old' }])
    const news = next()
    await rig.ask({}, { 'x-request-id': 'new' })
    const answered = performance.now()
    expect(requestsIn(await news)).toMatchObject([{ id: 'new', status: 200 }])
    expect(performance.now() - answered).toBeLessThan(1_000)
    leave()
  })

  test('free their slot when they leave', async () => {
    await using rig = await startRig([good()])
    const readers = await Promise.all(Array.from({ length: 100 }, () => follow(rig.service.url)))
    const refused = await follow(rig.service.url)
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([503, '1'])
    readers[0]?.leave()
    const { next, leave } = await eventually(async () => {
      const again = await follow(rig.service.url)
      return again.response.status === 200 ? again : undefined
    })
    expect(await next()).toEqual({ requests: [], minutes: [] })
    for (const reader of [...readers, { leave }]) reader.leave()
  })

  test('does not hold up a stop, and sees the end', async () => {
    await using rig = await startRig([good()])
    const readers = await Promise.all(Array.from({ length: 10 }, () => follow(rig.service.url)))
    for (const { next } of readers) expect(await next()).toEqual({ requests: [], minutes: [] })
    const ends = Promise.all(readers.map(({ next }) => next()))
    const started = performance.now()
    await rig.service.stop()
    expect(performance.now() - started).toBeLessThan(900)
    expect(await ends).toEqual(readers.map(() => undefined))
  })
})

test('signed-in users see their own requests, owners those of all users', async () => {
  await using rig = await startSignIn(startGithub)
  const [ada, bob] = [await rig.signIn('ada'), await rig.signIn('bob')].map(({ token }) => ({
    'x-session-token': token,
  }))
  await rig.service.configure(JSON.stringify({ providers: [provider('a', rig.upstream.url)], owners: ['ada'] }))
  await rig.logged('configuration reloaded')
  const live = await follow(rig.service.url, bob)
  expect(await live.next()).toEqual({ requests: [], minutes: [] })
  await rig.ask({ ...ada, 'x-request-id': 'of-ada' })
  await rig.ask({ ...bob, 'x-request-id': 'of-bob' })
  expect(requestsIn(await live.next())).toMatchObject([{ id: 'of-bob', user: 'bob' }])
  live.leave()
  expect(await remembered(rig.service.url, bob)).toMatchObject([{ id: 'of-bob' }])
  expect(pick(await get(rig.service.url, '/api/requests/of-ada', bob), 'error', 'code')).toBe('not_found')
  expect(await remembered(rig.service.url, ada)).toMatchObject([{ id: 'of-ada', user: 'ada' }, { id: 'of-bob' }])
  expect(pick(await get(rig.service.url, '/api/requests'), 'error', 'code')).toBe('authentication_required')
})

describe('with workers', () => {
  const flags = ['--workers', '2']
  /** Headers for a separate connection, which the kernel gives to a random worker. */
  const alone = { connection: 'close' }

  async function askMany(url: string, name: string): Promise<readonly string[]> {
    const ids = Array.from({ length: 24 }, (_, index) => `${name}-${index}`)
    await Promise.all(ids.map((id) => chat(url, question(), { headers: { ...alone, 'x-request-id': id } })))
    return ids
  }

  const idsIn = (requests: readonly unknown[]): readonly unknown[] =>
    requests.map((request) => pick(request, 'id')).toSorted()

  test('each worker answers with the requests and sums of all', async () => {
    await using rig = await startRig([good()], { flags })
    const ids = await askMany(rig.service.url, 'r')
    const answers = await Promise.all(Array.from({ length: 8 }, () => remembered(rig.service.url, alone)))
    expect(answers.map(idsIn)).toEqual(answers.map(() => ids.toSorted()))
    const found = await Promise.all(ids.map((id) => get(rig.service.url, `/api/requests/${id}`, alone)))
    expect(found).toMatchObject(ids.map((id) => ({ id, status: 200 })))
    expect(pick(await get(rig.service.url, '/api/providers', alone), 'providers', 0, 'attempts')).toMatchObject({
      count: 24,
    })
  })

  test('followers get the requests of all workers', async () => {
    await using rig = await startRig([good()], { flags })
    const followers = await Promise.all(Array.from({ length: 6 }, () => follow(rig.service.url, alone)))
    for (const { next } of followers) expect(requestsIn(await next())).toEqual([])
    const ids = await askMany(rig.service.url, 'r')
    for (const { next, leave } of followers) {
      const seen: unknown[] = []
      while (seen.length < ids.length) seen.push(...requestsIn(await next()))
      expect(idsIn(seen)).toEqual(ids.toSorted())
      leave()
    }
  })

  test('each request has its line in the log', async () => {
    await using rig = await startRig([good()], { flags })
    const ids = await askMany(rig.service.url, 'r')
    await rig.service.stop()
    const lines = rig.service.logs.filter(({ message }) => message === 'request')
    expect(idsIn(lines)).toEqual(ids.toSorted())
  })
})

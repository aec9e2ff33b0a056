import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { formats } from '../src/formats/format-list.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { makeKey, parseKeyRequest } from '../src/people/keys/manage-keys.ts'
import { answerOf, chat, pick, question, type Answer } from './client.ts'
import type { Script } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { startGithub } from './fakes/identity/github.ts'
import { completion, reply } from './fakes/replies.ts'
import { startService } from './harness.ts'
import { workersOf } from './process-tree.ts'
import { startRig, type Rig } from './rig.ts'
import { startSignIn, type SignedIn } from './sign-in/rig.ts'

const access = (...limits: readonly object[]): string => JSON.stringify({ limits })
const everyone = (amounts: object) => access({ for: 'everyone', ...amounts })

async function limited(
  text: string,
  scripts: readonly Script[] = [good()],
  flags: readonly string[] = [],
  ms = 300,
): Promise<Rig> {
  return startRig(scripts, {
    files: { 'access.json': text },
    flags,
    every: { timeouts: { first_token_ms: ms, idle_ms: ms, attempt_ms: ms } },
  })
}

async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; !(await claim()); await Bun.sleep(10))
    if (performance.now() > end) throw new Error('it never came true')
}

async function post(
  { service: { url } }: Pick<Rig, 'service'>,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const response = await fetch(url + path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
  return answerOf(response, await response.text())
}

const codeOf = (answer: Answer): string => `${answer.status} ${String(pick(answer.json, 'error', 'code'))}`

describe('a limit of requests', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await limited(everyone({ requests: 2, per: 'hour' }))
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  test('complaint: side doors › every route of every format is limited, and 429 has the shape of each', async () => {
    const first = await rig.ask()
    expect([first.status, first.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '2'])
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^(?:30m0s|29m60s|29m59s)$/)
    expect((await rig.askStream()).headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const paths = Object.values(formats).flatMap(({ path, otherPaths = [] }) => [path, ...otherPaths])
    expect(paths.length).toBeGreaterThan(18)
    for (const path of paths) {
      const answer = await post(rig, path.replace('{model}', 'm'), '{')
      expect([path, answer.status]).toEqual([path, 429])
      expect(JSON.stringify(answer.json)).toContain('2 requests an hour for everyone')
      expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('0')
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1_795)
      expect(answer.headers.get('x-should-retry')).toBe('false')
    }
    expect(rig.hits()).toEqual([2])
    const openai = await post(rig, '/v1/responses', { model: 'm', input: 'hello' })
    expect(openai.json).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', param: null } })
    const anthropic = await post(rig, '/v1/messages', question({ max_tokens: 5 }))
    expect(anthropic.json).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } })
    expect(Object.fromEntries(anthropic.headers)).toMatchObject({
      'anthropic-ratelimit-requests-limit': '2',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    })
    const google = await post(rig, '/v1beta/models/m:generateContent', { contents: [] })
    expect(google.json).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } })
    const listed = await fetch(`${rig.service.url}/v1/models`)
    expect([listed.status, listed.headers.get('x-ratelimit-limit-requests')]).toEqual([200, null])
  })

  test('follows its file; a faulty one changes nothing, and is reported with its line', async () => {
    await rig.service.write('access.json', '{\n"limits":[{"for":"everyone","requests":-1}]}')
    await until(() => rig.service.output.includes('limits[0].requests: found -1'))
    expect(rig.service.output).toContain('access.json:2:')
    expect(codeOf(await rig.ask())).toBe('429 rate_limit_exceeded')
    await rig.service.write('access.json', everyone({ requests: 1_000, per: 'hour' }))
    await until(() => rig.service.output.includes('limits reloaded'))
    expect((await rig.ask()).headers.get('x-ratelimit-limit-requests')).toBe('1000')
    await rig.service.write('access.json', undefined)
    await until(() => rig.service.output.includes('found no file any more'))
    expect((await rig.ask()).headers.get('x-ratelimit-limit-requests')).toBe('1000')
    await rig.service.write('access.json', '{}')
    await until(async () => (await rig.ask()).headers.get('x-ratelimit-limit-requests') === null)
  })
})

test('access.json written thousands of times under load: each request meets one policy, and a whole one', async () => {
  // Long enough that a part of the file is often read.
  const filler = `// ${'-'.repeat(100)}\n`.repeat(400)
  const policy = (number: number) =>
    `{"limits":[{"for":"everyone","per":"day","requests":${number}},\n${filler}` +
    `{"for":"everyone","per":"hour","tokens":${number}}]}`
  await using rig = await limited(policy(1_000_000), [good()], [], 20_000)
  const path = join(rig.service.home, 'access.json')
  const first = 1_000_000
  const last = first + Number(process.env['SVC_TEST_WRITES'] ?? 1_000)
  let isOver = false
  const seen = new Set<string | null>()
  const callers = Array.from({ length: 6 }, async () => {
    while (!isOver) {
      const { status, headers } = await rig.ask()
      const [requests, tokens] = ['requests', 'tokens'].map((kind) => headers.get(`x-ratelimit-limit-${kind}`))
      expect([status, requests]).toEqual([200, tokens])
      seen.add(requests ?? null)
    }
  })
  for (let number = first + 1; number <= last; number += 1) {
    const text = policy(number)
    if (number % 3 > 0) {
      writeFileSync(`${path}.new`, text)
      renameSync(`${path}.new`, path)
    } else {
      // Cut, then written in two parts, as some editors and copies do.
      const file = openSync(path, 'w')
      writeSync(file, text.slice(0, text.length / 2))
      if (number % 30 === 0) await Bun.sleep(1)
      writeSync(file, text.slice(text.length / 2))
      closeSync(file)
    }
    if (number % 10 === 0) await Bun.sleep(1)
  }
  await until(async () => (await rig.ask()).headers.get('x-ratelimit-limit-requests') === String(last))
  isOver = true
  await Promise.all(callers)
  expect([...seen].every((number) => Number(number) >= first && Number(number) <= last)).toBe(true)
  expect(seen.size).toBeGreaterThan(1)
}, 30_000)

test('a request waits for a slot, and has the headers of the IETF; many refusals come late', async () => {
  const release = Promise.withResolvers<void>()
  let hits = 0
  const slow: Script = async (exchange) => {
    if ((hits += 1) === 1) await release.promise
    await good()(exchange)
  }
  const file = {
    limits: [
      { for: 'everyone', at_once: 1, wait_ms: 2_000 },
      { for: 'everyone', requests: 3, per: 'day' },
    ],
    ietf_headers: true,
  }
  await using rig = await startRig([slow], {
    files: { 'access.json': JSON.stringify(file) },
    environment: { SVC_LATE_REFUSAL_MS: '400' },
  })
  const first = chat(rig.service.url, question())
  await until(() => hits === 1)
  const second = chat(rig.service.url, question(), { headers: { 'x-request-id': 'second' } })
  await Bun.sleep(50)
  release.resolve()
  const [one, two] = await Promise.all([first, second])
  expect([one.status, two.status]).toEqual([200, 200])
  const waited = pick(await (await fetch(`${rig.service.url}/api/requests/second`)).json(), 'limits')
  expect(waited).toEqual([{ met: 'waited', for: 'everyone', kind: 'at_once', limit: 1 }])
  expect(two.headers.get('ratelimit-policy')).toBe('"requests";q=3;w=86400')
  expect(two.headers.get('ratelimit')).toMatch(/^"requests";r=1;t=\d+$/)
  expect((await chat(rig.service.url, question())).status).toBe(200)
  // More than come back meanwhile, also on a slow machine: the last ones are beyond the rate.
  const refused = Array.from({ length: 150 }, async () => {
    const start = performance.now()
    expect(codeOf(await chat(rig.service.url, question()))).toBe('429 rate_limit_exceeded')
    return performance.now() - start
  })
  expect(Math.max(...(await Promise.all(refused)))).toBeGreaterThanOrEqual(395)
}, 30_000)

test('complaint: settings without effect › limits that cannot count are faults at the start', async () => {
  for (const [text, reason] of [
    [
      access({ for: 'each key', requests: 1 }),
      /limits\[0\]\.for: found "each key", allowed: limits of keys only with --auth keys/,
    ],
    [
      access({ for: 'each person', requests: 1 }),
      /limits\[0\]\.for: found "each person", allowed: limits of people only with/,
    ],
    ['{"limit":[]}', /access\.json:1:2: limit: found an unknown field.*did you mean "limits"/],
    ['{', /access\.json:1:/],
  ] as const)
    await expect(startService({ providers: [] }, { files: { 'access.json': text } })).rejects.toThrow(reason)
})

/** Answers so that its request fails, or ends in a way of its own. */
const hang: Script = ({ hang: wait }) => wait()
const failing: Script = ({ write }) => write(reply(500, '{"error":{"message":"no"}}'))
const cut: Script = async ({ write, reset, pause }) => {
  await write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
  await pause(20)
  reset()
}

describe('complaint: slots leak on time-outs and cancelled streams', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await limited(everyone({ at_once: 1, tokens: 100_000_000 }), [hang])
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  /** Whether a slot is free; the request that finds out frees it again. */
  async function isFree(): Promise<boolean> {
    rig.upstreams[0]?.use(good())
    return (await rig.ask()).status === 200
  }

  test('while one request is open, another is refused', async () => {
    const [upstream] = rig.upstreams
    const arrived = upstream?.nextHit()
    const open = rig.ask()
    await arrived
    const refused = await rig.ask()
    expect([codeOf(refused), refused.headers.get('x-should-retry')]).toEqual(['429 concurrency_limit_exceeded', 'true'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await open).status).toBe(504)
    expect(await isFree()).toBe(true)
  })

  test.each<readonly [string, Script, (signal: AbortSignal) => Promise<unknown>]>([
    ['a time-out', hang, () => rig.ask()],
    ['a time-out of a stream', hang, () => rig.askStream()],
    ['a failure of all providers', failing, () => rig.ask()],
    ['a cut stream', cut, () => rig.askStream()],
    ['a client that leaves before the answer', hang, (signal) => chat(rig.service.url, question(), { signal })],
    [
      'a client that leaves a stream',
      good({ tokens: 1_000, pauseMs: 10 }),
      async (signal) => {
        const response = await fetch(`${rig.service.url}/v1/chat/completions`, {
          method: 'POST',
          body: JSON.stringify(question({ stream: true })),
          signal,
        })
        await response.body?.getReader().read()
        throw new Error('left')
      },
    ],
    ['a body that is no JSON', good(), () => post(rig, '/v1/chat/completions', '{')],
    ['a body that is too large', good(), () => post(rig, '/v1/chat/completions', 'x'.repeat(40_000_000))],
    ['an unknown model', good(), () => rig.ask({ model: 'other' })],
    [
      'a large answer',
      ({ write }) => write(reply(200, JSON.stringify(completion('x'.repeat(2_000_000))))),
      () => rig.ask(),
    ],
    ['a deadline', hang, () => rig.ask({}, { 'x-svc-timeout-ms': '50' })],
  ])('%s frees the slot', async (_, script, request) => {
    const [upstream] = rig.upstreams
    upstream?.use(script)
    const controller = new AbortController()
    const leaving = setTimeout(() => controller.abort(), 100)
    await request(controller.signal).catch(() => undefined)
    clearTimeout(leaving)
    controller.abort()
    await until(isFree)
  })
})

test('complaint: a refusal by one limit uses up another › does not happen', async () => {
  await using rig = await limited(
    access(
      { for: 'everyone', requests: 100, per: 'day', tokens: 1_000_000, at_once: 5 },
      { for: 'everyone', requests: 1, per: 'day', models: ['limited'] },
    ),
  )
  await rig.service.configure({
    providers: [{ id: 'a', base_url: rig.upstreams[0]?.url ?? '', models: ['m', 'limited'] }],
    aliases: { fast: 'limited' },
  })
  await until(async () => (await rig.ask({ model: 'fast', max_tokens: 1 })).status === 200)
  const before = (await rig.ask({ max_tokens: 1 })).headers
  for (const model of ['limited', 'LIMITED', 'fast', 'a/limited'])
    expect([model, codeOf(await rig.ask({ model }))]).toEqual([model, '429 rate_limit_exceeded'])
  const after = (await rig.ask({ max_tokens: 1 })).headers
  const left = (headers: Headers) => Number(headers.get('x-ratelimit-remaining-requests'))
  expect(left(after)).toBe(left(before) - 1)
  expect(Number(after.get('x-ratelimit-remaining-tokens'))).toBeGreaterThan(999_000)
})

test('tokens are taken by estimate and settled by the usage of the provider, whose own limits never pass', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 300, total_tokens: 400 }
  const body = JSON.stringify({ ...completion('hello'), usage })
  const head = [
    'HTTP/1.1 200 OK',
    'content-type: application/json',
    `content-length: ${body.length}`,
    'x-ratelimit-remaining-tokens: 7',
    'x-ratelimit-limit-requests: 9',
    'retry-after: 5',
  ]
  const script: Script = ({ write }) => write(`${head.join('\r\n')}\r\n\r\n${body}`)
  await using rig = await limited(everyone({ tokens: 10_000, per: 'day' }), [script])
  const first = await rig.ask({ max_tokens: 4_000 })
  expect(first.headers.get('x-ratelimit-limit-requests')).toBeNull()
  expect(first.headers.get('retry-after')).toBeNull()
  expect(first.headers.get('x-ratelimit-limit-tokens')).toBe('10000')
  const second = await rig.ask({ max_tokens: 4_000 })
  expect(Number(second.headers.get('x-ratelimit-remaining-tokens'))).toBe(10_000 - 2 * 400)
})

test.each([
  ['huge', { prompt_tokens: 9e15, completion_tokens: 9e15, total_tokens: 9e15 }],
  ['infinite', '{"prompt_tokens":1e308,"completion_tokens":1e308,"total_tokens":1e309}'],
  ['negative', { prompt_tokens: -9, completion_tokens: -9, total_tokens: -18 }],
  ['text', { prompt_tokens: 'few', completion_tokens: 'few' }],
])('a usage that is %s changes nothing of the estimate', async (_, usage) => {
  const body = JSON.stringify({ ...completion('hello'), usage: 0 })
  const answer = body.replace('"usage":0', `"usage":${typeof usage === 'string' ? usage : JSON.stringify(usage)}`)
  const script: Script = ({ write }) => write(reply(200, answer))
  await using rig = await limited(everyone({ tokens: 10_000, per: 'day' }), [script])
  expect((await rig.ask({ max_tokens: 4_000 })).status).toBe(200)
  const second = await rig.ask({ max_tokens: 1_000 })
  expect(second.status).toBe(200)
  expect(Number(second.headers.get('x-ratelimit-remaining-tokens'))).toBeWithin(4_900, 5_000)
})

test('a client that asks for very many tokens, without usage, does not lock the others out for long', async () => {
  const script: Script = ({ write }) => write(reply(200, JSON.stringify({ ...completion('hello'), usage: undefined })))
  await using rig = await limited(everyone({ tokens: 100_000 }), [script])
  expect((await rig.ask({ max_tokens: 1e9 })).status).toBe(200)
  const refused = await rig.ask()
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeLessThan(60)
})

test('a total that is less than its parts frees no tokens', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 300, total_tokens: 0 }
  const script: Script = ({ write }) => write(reply(200, JSON.stringify({ ...completion('hello'), usage })))
  await using rig = await limited(everyone({ tokens: 10_000, per: 'day' }), [script])
  await rig.ask({ max_tokens: 4_000 })
  const second = await rig.ask({ max_tokens: 4_000 })
  expect(Number(second.headers.get('x-ratelimit-remaining-tokens'))).toBe(10_000 - 2 * 400)
})

/** Promises of the libraries are of classes of their own. */
async function failureOf(request: PromiseLike<unknown>): Promise<unknown> {
  try {
    return await request
  } catch (error) {
    return error
  }
}

describe('official client libraries wait and try again', () => {
  test('openai and @anthropic-ai/sdk', async () => {
    await using rig = await limited(everyone({ requests: 60 }))
    await Promise.all(Array.from({ length: 60 }, () => rig.ask()))
    expect(codeOf(await rig.ask())).toBe('429 rate_limit_exceeded')
    const { url } = rig.service
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 4 })
    const anthropic = new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 4 })
    const messages = [{ role: 'user' as const, content: 'hello' }]
    const started = performance.now()
    const [completed, message] = await Promise.all([
      openai.chat.completions.create({ model: 'm', messages }),
      anthropic.messages.create({ model: 'm', max_tokens: 9, messages }),
    ])
    expect(completed.choices[0]?.message.content).toContain('good-0')
    expect(message.content[0]?.type).toBe('text')
    expect(performance.now() - started).toBeGreaterThan(800)
  }, 30_000)

  test('and give up at once where waiting does not help', async () => {
    await using rig = await limited(everyone({ requests: 0 }))
    const openai = new OpenAI({ baseURL: `${rig.service.url}/v1`, apiKey: 'any', maxRetries: 4 })
    const anthropic = new Anthropic({ baseURL: rig.service.url, apiKey: 'any', maxRetries: 4 })
    const messages = [{ role: 'user' as const, content: 'hello' }]
    const started = performance.now()
    expect(await failureOf(openai.chat.completions.create({ model: 'm', messages }))).toBeInstanceOf(
      OpenAI.RateLimitError,
    )
    const refused = await failureOf(anthropic.messages.create({ model: 'm', max_tokens: 9, messages }))
    expect(refused).toBeInstanceOf(Anthropic.RateLimitError)
    expect(performance.now() - started).toBeLessThan(1_500)
  })
})

async function makeKeyIn(home: string, name: string): Promise<string> {
  const ledger = await openLedger({ path: `${home}/svc.db` })
  const { key } = await makeKey(ledger.keys, parseKeyRequest({ name }), { by: 'test', now: Date.now() })
  await ledger.close()
  return key
}

test('keys count apart, everyone together', async () => {
  await using rig = await limited(
    access(
      { for: 'each key', requests: 2, per: 'day' },
      { for: 'everyone', requests: 100, per: 'day' },
      { for: 'key:2', requests: 1, per: 'day' },
    ),
    [good()],
    ['--auth', 'keys'],
  )
  const [one, two] = [await makeKeyIn(rig.service.home, 'one'), await makeKeyIn(rig.service.home, 'two')]
  const ask = async (key: string) => codeOf(await rig.ask({}, { authorization: `Bearer ${key}` }))
  expect([await ask(one), await ask(one), await ask(one)]).toEqual([
    '200 undefined',
    '200 undefined',
    '429 rate_limit_exceeded',
  ])
  expect([await ask(two), await ask(two)]).toEqual(['200 undefined', '429 rate_limit_exceeded'])
})

test('people count apart, and their team together; their limits keep sign-in on', async () => {
  const text = JSON.stringify({
    limits: [
      { for: 'each person', requests: 2, per: 'day' },
      { for: 'team:search', requests: 3, per: 'day' },
    ],
    teams: { search: { leads: ['ada'], members: ['octocat', 'grace'] } },
  })
  await using rig = await startSignIn(startGithub, { files: { 'access.json': text } })
  const [ada, grace] = [await rig.signIn(), await rig.signIn('grace')]
  const ask = async ({ token }: SignedIn) => codeOf(await rig.ask({ authorization: `Bearer ${token}` }))
  const refused = '429 rate_limit_exceeded'
  expect([await ask(ada), await ask(ada), await ask(ada)]).toEqual(['200 undefined', '200 undefined', refused])
  expect([await ask(grace), await ask(grace)]).toEqual(['200 undefined', refused])
  // Nobody would be known any more, and the limits of people would end.
  await rig.configure({ enabled: false })
  await rig.logged('the extension was not reloaded', 'limits of people only with sign-in')
  expect([(await rig.ask()).status, await ask(grace)]).toEqual([401, refused])
})

describe('several workers keep limits together', () => {
  const workers = ['--workers', '3']

  /** Requests on connections of their own, which reach all workers. */
  const askAnew = (rig: Rig, more: object = {}) => rig.ask({ ...more }, { connection: 'close' })

  test('of requests: as many pass as one process would let pass', async () => {
    await using rig = await limited(everyone({ requests: 40, per: 'day' }), [good()], workers)
    const one = await Promise.all(Array.from({ length: 30 }, () => askAnew(rig)))
    expect(one.map(({ status }) => status)).toEqual(one.map(() => 200))
    const rest = await Promise.all(Array.from({ length: 30 }, () => askAnew(rig)))
    expect(rest.filter(({ status }) => status === 200).length).toBe(10)
    expect(new Set(rest.filter(({ status }) => status !== 200).map(codeOf))).toEqual(
      new Set(['429 rate_limit_exceeded']),
    )
    const own = await (await fetch(`${rig.service.url}/v1/key`)).json()
    expect(own).toMatchObject({ kind: 'anonymous', limits: [{ kind: 'requests', limit: 40, remaining: 0 }] })
  })

  test('of slots: those of a worker that was killed come back', async () => {
    await using rig = await limited(everyone({ at_once: 4 }), [good({ tokens: 100_000, pauseMs: 20 })], workers, 10_000)
    const open = await Promise.all(
      Array.from({ length: 4 }, () =>
        fetch(`${rig.service.url}/v1/chat/completions`, {
          method: 'POST',
          body: JSON.stringify(question({ stream: true })),
          headers: { connection: 'close' },
        }),
      ),
    )
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const reading = open.map((response) => response.text().catch(() => ''))
    expect(codeOf(await askAnew(rig))).toBe('429 concurrency_limit_exceeded')
    for (const pid of workersOf(rig.service.pid)) process.kill(pid, 'SIGKILL')
    await Promise.all(reading)
    rig.upstreams[0]?.use(good())
    await until(async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => askAnew(rig).catch(() => undefined)))
      return answers.every((answer) => answer?.status === 200)
    })
  })

  test('of tokens: what was not used is there for the others', async () => {
    await using rig = await limited(everyone({ tokens: 20_000, per: 'day' }), [good()], workers)
    for (let round = 0; round < 12; round += 1) expect((await askAnew(rig, { max_tokens: 15_000 })).status).toBe(200)
  })
})

test('GET /v1/key shows a key and a person to themselves, with any scopes of the key', async () => {
  await using rig = await limited(
    access(
      { for: 'each key', requests: 5, per: 'hour', at_once: 2 },
      { for: 'everyone', tokens: 1_000, models: ['m*'] },
      { for: 'each key', usd: 5, per: 'total', models: ['paid'] },
      { for: 'everyone', usd: 9, per: 'total', models: ['paid'] },
    ),
    [good()],
    ['--auth', 'keys'],
  )
  const ledger = await openLedger({ path: `${rig.service.home}/svc.db` })
  const request = parseKeyRequest({ name: 'metrics', scopes: ['metrics:read'], models: ['m'], days: 3 })
  const { key } = await makeKey(ledger.keys, request, { by: 'test', now: Date.now() })
  await ledger.close()
  const own = async (headers: Record<string, string>) => {
    const response = await fetch(`${rig.service.url}/v1/key`, { headers })
    return answerOf(response, await response.text())
  }
  const shown = await own({ authorization: `Bearer ${key}` })
  const total = { per: 'total', window_ends: null }
  expect(shown.json).toEqual({
    object: 'key',
    kind: 'key',
    id: 1,
    line: 1,
    name: 'metrics',
    team: null,
    content: null,
    expires: expect.stringMatching(/^\d{4}-/),
    scopes: ['metrics:read'],
    models: ['m'],
    providers: null,
    networks: null,
    limits: [
      { for: 'each key', kind: 'requests', limit: 5, per: 'hour', models: null, remaining: 5, reset_seconds: 0 },
      { for: 'each key', kind: 'at_once', limit: 2, per: null, models: null, remaining: 2, reset_seconds: 0 },
      {
        for: 'everyone',
        kind: 'tokens',
        limit: 1_000,
        per: 'minute',
        models: ['m*'],
        remaining: 1_000,
        reset_seconds: 0,
      },
      { for: 'each key', kind: 'usd', limit: 5, models: ['paid'], used: 0, held: 0, remaining: 5, ...total },
      {
        for: 'everyone',
        kind: 'usd',
        limit: null,
        models: ['paid'],
        used: null,
        held: null,
        remaining: null,
        ...total,
      },
    ],
  })
  expect(shown.text).not.toContain(key)
  expect(codeOf(await own({}))).toBe('401 authentication_required')
  const program = await makeKeyIn(rig.service.home, 'program')
  expect((await rig.ask({}, { authorization: `Bearer ${program}` })).status).toBe(200)
  const used = await own({ authorization: `Bearer ${program}` })
  expect(pick(used.json, 'limits', 0)).toMatchObject({ remaining: 4, reset_seconds: expect.any(Number) })
  expect(pick(used.json, 'limits', 1)).toMatchObject({ remaining: 2 })
})

describe('a limit that owners draft', () => {
  test('is shown as a line with what it does now, and saved by its version', async () => {
    const text = '{\n  "limits": [\n    { "for": "everyone", "usd": 200, "per": "month" }, // all\n  ],\n}\n'
    await using rig = await startSignIn(startGithub, {
      ...{ flags: ['--auth', 'keys'], owners: ['ada'], files: { 'access.json': text } },
    })
    const [ada, grace] = [(await rig.signIn('ada')).token, (await rig.signIn('grace')).token]
    expect((await rig.ask({ 'x-session-token': grace })).status).toBe(200)
    const limit = { for: 'each person', usd: 0, per: 'day', requests: 60 }
    const draft = (token: string) => post(rig, '/api/limits/draft', { limit }, { 'x-session-token': token })
    expect(codeOf(await draft(grace))).toBe('403 owners_only')
    const { json } = await draft(ada)
    expect(json).toMatchObject({
      faults: [],
      text: text.replace('  ],', '    { "for": "each person", "usd": 0, "per": "day", "requests": 60 },\n  ],'),
      effect: {
        ...{ counted: 1, above: [{ name: 'grace', used: 0 }], besides: ['limits[0]'] },
        unpriced: [{ models: ['m'], areRefused: false }],
      },
    })
    const saving = { version: pick(json, 'base', 'version'), text: pick(json, 'text') }
    const save = () => post(rig, '/api/limits/file', saving, { 'x-session-token': ada })
    expect((await save()).status).toBe(200)
    expect(codeOf(await save())).toBe('409 conflict')
    const named = await rig.get('/v1/key', { 'x-session-token': grace })
    expect(pick(named.json, 'limits')).toMatchObject([{ for: 'each person', kind: 'requests', limit: 60 }, {}, {}])
  }, 30_000)
})

import { heapStats } from 'bun:jsc'
import { afterEach, describe, expect, test } from 'bun:test'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config, ProviderConfig } from '../config/config.ts'
import { defaultFailover, defaultLimits } from '../config/defaults.ts'
import { resolveProvider } from '../config/file/resolve-provider.ts'
import type { ChatRequest } from '../formats/chat/request.ts'
import type { ServedReply } from '../gateway/gateway.ts'
import { readAll, requestOf, partsText } from '../gateway/testing.ts'
import {
  chunkJson,
  completionJson,
  event,
  fakeBody,
  fakeTransport,
  transportError,
  type FakeAnswer,
  type FakeTransport,
} from '../protocols/testing.ts'
import { unlimitedAnswerBudget } from '../service/answer-budget.ts'
import { healthBook, type HealthBook } from '../service/health/health.ts'
import { callOf, fakeClock, rejection } from '../service/testing.ts'
import type { Transport } from '../transport/transport.ts'
import { assembleGateway, type AssembledGateway } from './assemble.ts'

const cleanUps: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

type Answers = readonly (FakeAnswer | Error)[]

interface Subject {
  readonly gateway: AssembledGateway
  readonly hits: (id: string) => number
  readonly transports: Readonly<Record<string, FakeTransport>>
  readonly health: HealthBook
  readonly warnings: readonly string[]
}

/** A gateway to upstreams `http://<id>.example/v1` that answer so; each offers model `m` unless it says otherwise. */
function assemble(
  upstreams: Readonly<Record<string, Answers>>,
  changes: Readonly<Record<string, Partial<ProviderConfig>>> = {},
  more: { readonly modelsCache?: string; readonly clock?: () => number } = {},
): Subject {
  const transports: Record<string, FakeTransport> = {}
  for (const [id, answers] of Object.entries(upstreams)) transports[id] = fakeTransport(...answers)
  const transport: Transport = {
    request(request, signal) {
      const own = transports[request.origin.hostname.replace('.example', '')]
      return own === undefined ? Promise.reject(transportError('dns')) : own.request(request, signal)
    },
    connections: { active: 0, idle: 0 },
    close: () => undefined,
  }
  const config: Config = {
    providers: Object.keys(upstreams).map((id) => ({
      ...resolveProvider(
        { id, baseUrl: `http://${id}.example/v1`, models: [{ name: 'm', upstream: `${id}-m`, aliases: [] }] },
        {},
      ),
      ...changes[id],
    })),
    limits: defaultLimits,
    failover: defaultFailover,
    aliases: {},
    source: { kind: 'echo' },
  }
  const health = healthBook(more.clock ?? (() => performance.now()), () => 0.5)
  const warnings: string[] = []
  const gateway = assembleGateway(config, {
    transport,
    health,
    answerBudget: unlimitedAnswerBudget,
    log: { debug: () => undefined, warn: (message) => warnings.push(message) },
    ...(more.modelsCache === undefined ? {} : { modelsCache: more.modelsCache }),
  })
  cleanUps.push(() => gateway.close())
  return { gateway, hits: (id) => transports[id]?.requests.length ?? 0, transports, health, warnings }
}

const good: FakeAnswer = {
  headers: { 'content-type': 'application/json' },
  body: [JSON.stringify(completionJson('Hello'))],
}
const down: FakeAnswer = { status: 500, body: ['{"error":{"message":"oops"}}'] }
const streamed = (...texts: readonly string[]): FakeAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  body: [...texts.map((text) => event(chunkJson({ content: text }))), event(chunkJson({}, 'stop')), event('[DONE]')],
})
const plain = requestOf()
const streaming = requestOf({ stream: true })

async function streamOf(gateway: AssembledGateway, call = callOf()) {
  const { reply, provider } = await gateway.answer(streaming, call)
  if (reply.kind !== 'stream') throw new Error('not a stream')
  return { ...(await readAll(reply)), provider }
}

describe('an assembled gateway', () => {
  test('fails over, with the attempts in its trail', async () => {
    const { gateway, hits } = assemble({ a: [down], b: [transportError('connect')], c: [good] })
    const call = callOf()
    const { provider, model } = await gateway.answer(plain, call)
    expect({ provider, model }).toEqual({ provider: 'c', model: 'c-m' })
    expect(['a', 'b', 'c'].map(hits)).toEqual([1, 1, 1])
    expect(call.trail).toMatchObject([
      { name: 'a', status: 500, failure: 'server_error' },
      { name: 'b', failure: 'connect' },
      { name: 'c', status: 200 },
    ])
    expect(call.trail[2]?.failure).toBeUndefined()
  })

  test('leaves out disabled and unusable providers', async () => {
    const { gateway, hits } = assemble(
      { a: [good], b: [good], c: [good] },
      { a: { enabled: false }, b: { unavailable: 'KEY is not set' } },
    )
    expect(gateway.providers.map(({ id }) => id)).toEqual(['c'])
    expect((await gateway.answer(plain, callOf())).provider).toBe('c')
    expect([hits('a'), hits('b')]).toEqual([0, 0])
  })

  test('skips a provider after its fifth failure, and probes it later', async () => {
    const clock = fakeClock()
    const { gateway, hits, health } = assemble(
      { a: [down, down, down, down, down, good], b: [good] },
      {},
      { clock: clock.now },
    )
    for (let time = 0; time < 7; time += 1) await gateway.answer(plain, callOf())
    expect(hits('a')).toBe(5)
    expect(health.openBreakers()).toEqual([{ provider: 'a', model: 'a-m' }])
    clock.pass(5_000)
    expect((await gateway.answer(plain, callOf())).provider).toBe('a')
    expect(health.openBreakers()).toEqual([])
  })

  test('skips a provider for the time of its Retry-After', async () => {
    const clock = fakeClock()
    const { gateway, hits } = assemble(
      { a: [{ status: 429, headers: { 'retry-after': '7' } }, good], b: [good] },
      {},
      { clock: clock.now },
    )
    await gateway.answer(plain, callOf())
    expect((await gateway.answer(plain, callOf())).provider).toBe('b')
    expect(hits('a')).toBe(1)
    clock.pass(7_000)
    expect((await gateway.answer(plain, callOf())).provider).toBe('a')
  })

  test('retries at the same provider if configured, each attempt in the trail', async () => {
    const { gateway, hits } = assemble(
      { a: [{ status: 429, headers: { 'retry-after-ms': '1' } }, good] },
      { a: { retries: 1 } },
    )
    const call = callOf()
    await gateway.answer(plain, call)
    expect(hits('a')).toBe(2)
    expect(call.trail).toMatchObject([{ status: 429, failure: 'rate_limit' }, { status: 200 }])
  })

  test('aborts an attempt that takes too long, and moves on', async () => {
    const timeouts = { connectMs: 5_000, firstTokenMs: 10, idleMs: 60_000, attemptMs: 10 }
    const silent: FakeAnswer = {
      headers: { 'content-type': 'text/event-stream' },
      body: fakeBody([event(chunkJson({ role: 'assistant', content: '' }))], { hangs: true }),
    }
    const { gateway, transports } = assemble({ a: [silent], b: [streamed('Hello')] }, { a: { timeouts } })
    const call = callOf()
    const { parts, provider } = await streamOf(gateway, call)
    expect({ text: partsText(parts), provider }).toEqual({ text: 'Hello', provider: 'b' })
    expect(transports['a']?.bodies[0]?.isCancelled).toBe(true)
    expect(call.trail).toMatchObject([{ name: 'a', failure: 'timeout', ambiguous: true }, { name: 'b' }])
  })

  test('never answers a plain request with part of a stream that timed out', async () => {
    const timeouts = { connectMs: 5_000, firstTokenMs: 30_000, idleMs: 60_000, attemptMs: 10 }
    const slow: FakeAnswer = {
      headers: { 'content-type': 'text/event-stream' },
      body: fakeBody([event(chunkJson({ content: 'Hel' }))], { hangs: true }),
    }
    const { gateway, transports } = assemble({ a: [slow] }, { a: { timeouts } })
    expect(await rejection(gateway.answer(plain, callOf()))).toMatchObject({ status: 504 })
    expect(transports['a']?.bodies[0]?.isCancelled).toBe(true)
  })

  test('resumes a cut stream, and counts a failure of the provider that cut it', async () => {
    const cut: FakeAnswer = {
      headers: { 'content-type': 'text/event-stream' },
      body: [event(chunkJson({ content: 'Hel' })), transportError('short_body')],
    }
    const { gateway } = assemble({ a: [cut], b: [streamed('He', 'llo')] })
    const call = callOf()
    const { parts, error } = await streamOf(gateway, call)
    expect(error).toBeUndefined()
    expect(partsText(parts)).toBe('Hello')
    expect(call.trail).toMatchObject([
      { name: 'a', failure: 'cut' },
      { name: 'b', status: 200 },
    ])
  })

  test('converts in both directions (failover.md rows 30 and 31)', async () => {
    const { gateway } = assemble({ a: [good, streamed('Hel', 'lo')] })
    expect(partsText((await streamOf(gateway)).parts)).toBe('Hello')
    const { reply } = await gateway.answer(plain, callOf())
    if (reply.kind !== 'whole') throw new Error('not whole')
    expect(new TextDecoder().decode(reply.body)).toContain('"content":"Hello"')
  })

  test('moves on from an empty answer, and delivers it when no provider remains (row 27)', async () => {
    const empty: FakeAnswer = { ...good, body: [JSON.stringify(completionJson(''))] }
    expect((await assemble({ a: [empty], b: [good] }).gateway.answer(plain, callOf())).provider).toBe('b')
    expect((await assemble({ a: [empty], b: [down] }).gateway.answer(plain, callOf())).provider).toBe('a')
    expect((await streamOf(assemble({ a: [empty], b: [streamed('Hello')] }).gateway)).provider).toBe('b')
    const { parts, error, provider } = await streamOf(assemble({ a: [empty], b: [down] }).gateway)
    expect({ provider, error, finish: parts.at(-1)?.finishReason }).toEqual({
      provider: 'a',
      error: undefined,
      finish: 'stop',
    })
  })

  test('skips a provider at its concurrency limit, without counting a failure', async () => {
    const { gateway, hits } = assemble({ a: [streamed('Hello')], b: [streamed('Other')] }, { a: { maxConcurrent: 1 } })
    const first = await gateway.answer(streaming, callOf())
    expect(first.provider).toBe('a')
    expect((await gateway.answer(streaming, callOf())).provider).toBe('b')
    if (first.reply.kind === 'stream') await readAll(first.reply)
    expect((await gateway.answer(streaming, callOf())).provider).toBe('a')
    expect(hits('a')).toBe(2)
  })

  test('answers 503 when all providers are at their limit', async () => {
    const { gateway } = assemble({ a: [streamed('Hello')] }, { a: { maxConcurrent: 1 } })
    await gateway.answer(streaming, callOf())
    expect(await rejection(gateway.answer(streaming, callOf()))).toMatchObject({ status: 503, code: 'overloaded' })
  })

  test('releases the slot of a cancelled stream', async () => {
    const { gateway } = assemble({ a: [streamed('Hello')] }, { a: { maxConcurrent: 1 } })
    const { reply } = await gateway.answer(streaming, callOf())
    if (reply.kind === 'stream') reply.cancel()
    expect((await gateway.answer(streaming, callOf())).provider).toBe('a')
  })

  test('counts no failure when the caller has left', async () => {
    const { gateway, health } = assemble({
      a: Array.from({ length: 6 }, () => ({ body: fakeBody([], { hangs: true }) })),
    })
    for (let time = 0; time < 6; time += 1) {
      const controller = new AbortController()
      const failing = rejection(gateway.answer(plain, callOf(controller.signal)))
      await Bun.sleep(1)
      controller.abort(new Error('gone'))
      expect(await failing).toHaveProperty('message', 'gone')
    }
    expect(health.openBreakers()).toEqual([])
  })

  test('has the echo answer as model echo', async () => {
    const { gateway } = assemble({ echo: [] }, { echo: { protocol: 'echo', models: '*' } })
    expect((await gateway.answer(requestOf({ model: 'echo' }), callOf())).provider).toBe('echo')
    expect(gateway.models().map(({ name }) => name)).toEqual(['echo'])
  })
})

describe('models that are asked for', () => {
  const asking = { a: { models: '*' as const } }

  async function folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'svc-models-'))
    cleanUps.push(() => rm(path, { recursive: true, force: true }))
    return path
  }

  test('are listed by the provider, and cached between starts', async () => {
    const modelsCache = join(await folder(), 'deeper')
    const { gateway, transports } = assemble(
      { a: [{ body: ['{"data":[{"id":"x","context_length":4096},{"id":"y"}]}'] }] },
      asking,
      { modelsCache },
    )
    await gateway.providers[0]?.models.pending
    expect(gateway.models().map(({ name, offers }) => [name, offers[0].model.context])).toEqual([
      ['x', 4096],
      ['y', undefined],
    ])
    expect(transports['a']?.requests).toMatchObject([{ method: 'GET', path: '/v1/models' }])
    expect(JSON.parse(await readFile(join(modelsCache, 'a.json'), 'utf8'))).toEqual({
      target: gateway.assembled[0]?.target,
      models: [{ name: 'x', context: 4096 }, { name: 'y' }],
    })
  })

  test('are cached for this user only; an existing folder keeps its mode', async () => {
    const home = join(await folder(), 'home'),
      opened = await folder()
    await chmod(opened, 0o750)
    for (const modelsCache of [join(home, 'cache', 'models'), join(opened, 'models')]) {
      const { gateway } = assemble({ a: [{ body: ['{"data":[{"id":"x"}]}'] }] }, asking, { modelsCache })
      await gateway.providers[0]?.models.pending
    }
    const paths = [
      home,
      join(home, 'cache'),
      join(home, 'cache', 'models'),
      join(home, 'cache', 'models', 'a.json'),
      join(opened, 'models'),
      opened,
    ]
    const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777))
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o600, 0o700, 0o750])
  })

  test('come from the cache while the provider is down', async () => {
    const modelsCache = await folder()
    const target = assemble({ a: [down] }, asking).gateway.assembled[0]?.target
    await writeFile(
      join(modelsCache, 'a.json'),
      JSON.stringify({ target, models: [{ name: 'x', context: 4096 }, { no: 'name' }, null] }),
    )
    const { gateway, warnings } = assemble({ a: [down] }, asking, { modelsCache })
    await gateway.providers[0]?.models.pending
    expect(gateway.models().map(({ name }) => name)).toEqual(['x'])
    await Bun.sleep(1)
    expect(warnings).toEqual(['could not list the models of a provider'])
  })

  test.each([
    ['is broken', '[{"name":'],
    ['was written before targets were', '[{"name":"y"}]'],
    ['is of another server by the same name', '{"target":"0123456789ab","models":[{"name":"y"}]}'],
  ])('are requested when the cache %s', async (_name, kept) => {
    const modelsCache = await folder()
    await writeFile(join(modelsCache, 'a.json'), kept)
    const { gateway } = assemble({ a: [{ body: ['{"data":[{"id":"x"}]}'] }] }, asking, { modelsCache })
    await gateway.providers[0]?.models.pending
    expect(gateway.models().map(({ name }) => name)).toEqual(['x'])
  })

  test('that are unknown do not let made-up names take memory or time', async () => {
    const body = new TextEncoder().encode('{"error":{"message":"no such model"}}')
    const transport: Transport = {
      request: async () => ({ status: 404, headers: new Map(), body: fakeBody([body]) }),
      connections: { active: 0, idle: 0 },
      close: () => undefined,
    }
    const config: Config = {
      providers: [resolveProvider({ id: 'a', baseUrl: 'http://a.example/v1', models: '*' }, {})],
      limits: defaultLimits,
      failover: defaultFailover,
      aliases: {},
      source: { kind: 'echo' },
    }
    const health = healthBook(() => performance.now())
    const gateway = assembleGateway(config, {
      transport,
      health,
      answerBudget: unlimitedAnswerBudget,
      log: { debug: () => undefined, warn: () => undefined },
    })
    cleanUps.push(() => gateway.close())
    await gateway.providers[0]?.models.pending

    let asked = 0
    /** Asks for 500 unknown names. @returns microseconds of CPU time */
    async function askFor500(): Promise<number> {
      const { user: started } = process.cpuUsage()
      for (const end = asked + 500; asked < end; asked += 1)
        await rejection(gateway.answer(requestOf({ model: `made-up-${asked}` }), callOf()))
      return process.cpuUsage().user - started
    }
    /** The fastest of several runs: the others include garbage collection and compilation. */
    async function quickestOf(times: number): Promise<number> {
      let quickest = Infinity
      for (let time = 0; time < times; time++) quickest = Math.min(quickest, await askFor500())
      return quickest
    }
    const objects = (): number => {
      Bun.gc(true)
      return heapStats().objectCount
    }

    await quickestOf(2)
    const early = await quickestOf(4)
    // More than the 10,000 that are remembered.
    await quickestOf(15)
    const before = objects()
    const late = await quickestOf(4)
    // The health state of a model alone is some twenty objects.
    expect(objects() - before).toBeLessThan(2_000)
    expect(late).toBeLessThan(early * 4)
  }, 30_000)
})

describe('a stream that goes on', () => {
  /** How many of twenty requests are still held when their streams have begun. */
  async function heldBy(ids: readonly string[]): Promise<number> {
    const upstreams = Object.fromEntries(ids.map((id) => [id, [good]]))
    const { gateway, transports } = assemble(upstreams)
    const requests: WeakRef<ChatRequest>[] = []
    const replies: ServedReply['reply'][] = []
    for (const transport of Object.values(transports)) {
      transport.request = async () => ({
        status: 200,
        headers: new Map([['content-type', 'text/event-stream']]),
        body: fakeBody([event(chunkJson({ content: 'Hello' }))], { hangs: true }),
      })
    }
    for (let number = 0; number < 20; number += 1) {
      const request = requestOf({ stream: true })
      requests.push(new WeakRef(request))
      const { reply } = await gateway.answer(request, callOf())
      if (reply.kind === 'stream') await reply.read()
      replies.push(reply)
    }
    await Bun.sleep(1)
    Bun.gc(true)
    expect(replies).toHaveLength(20)
    return requests.filter((request) => request.deref() !== undefined).length
  }

  test('holds nothing of its request, unless it can be resumed', async () => {
    // The collector may take what lies on the stack for something that is in use.
    expect(await heldBy(['a'])).toBeLessThan(5)
    expect(await heldBy(['a', 'b'])).toBe(20)
  })
})

import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { chat, metric, question, type Answer } from './client.ts'
import { faultUpstream, type FaultUpstream, type Script } from './fakes/fault-upstream.ts'
import { status } from './fakes/faults/status.ts'
import { good } from './fakes/good.ts'
import { reply } from './fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'

const listed = { models: '*' } as const

/** Lists `names` after `ms`, and runs `otherwise` for chats. */
function listing(names: readonly string[], ms: number, otherwise: Script): Script {
  return async (exchange) => {
    if (exchange.hit.method !== 'GET') return otherwise(exchange)
    await exchange.pause(ms)
    await exchange.write(
      reply(200, JSON.stringify({ object: 'list', data: names.map((id) => ({ id, object: 'model' })) })),
    )
  }
}

function listsAsked({ hits }: FaultUpstream): number {
  return hits.filter(({ method }) => method === 'GET').length
}

function served(answers: readonly Answer[]): readonly string[] {
  return [...new Set(answers.map(({ status, headers }) => `${status} ${headers.get('x-svc-provider')}`))]
}

/** Waits until the configuration has been reloaded. */
async function reloaded(service: ServiceUnderTest): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if ((await metric(service.url, 'svc_config_reloads_total{result="ok"}')) > 0) return
    await Bun.sleep(10)
  }
  throw new Error(`it was not reloaded:\n${service.output}`)
}

describe('a provider whose models are learned', () => {
  test('and which is first › gets the first requests, although its list is late', async () => {
    const a = faultUpstream(listing(['m'], 300, good({ name: 'a' }))),
      b = faultUpstream(good({ name: 'b' }))
    await using service = await startService({ providers: [provider('a', a.url, [], listed), provider('b', b.url)] })
    const answers = await Promise.all(Array.from({ length: 20 }, () => chat(service.url, question())))
    expect(served(answers)).toEqual(['200 a'])
    expect(b.hits.length).toBe(0)
    for (const upstream of [a, b]) upstream.stop()
  })

  test('and which turns out not to offer the model › is passed over', async () => {
    const a = faultUpstream(listing(['other'], 200, good({ name: 'a' }))),
      b = faultUpstream(good({ name: 'b' }))
    await using service = await startService({ providers: [provider('a', a.url, [], listed), provider('b', b.url)] })
    expect(served([await chat(service.url, question())])).toEqual(['200 b'])
    for (const upstream of [a, b]) upstream.stop()
  })

  test('and whose list has pages › serves models of each page, with their context', async () => {
    const pages: Readonly<Record<string, object>> = {
      '/v1/models?limit=1000': { data: [{ id: 'one', max_input_tokens: 200_000 }], has_more: true, last_id: 'one' },
      '/v1/models?limit=1000&after_id=one': { data: [{ id: 'two' }], has_more: false, last_id: 'two' },
    }
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'two',
      content: [{ type: 'text', text: 'Hi' }],
    }
    using a = faultUpstream(({ hit, write }) => {
      const body = hit.method === 'POST' ? { ...message, stop_reason: 'end_turn' } : pages[hit.path]
      return write(body === undefined ? reply(404, '{}') : reply(200, JSON.stringify(body)))
    })
    const entry = provider('a', new URL(a.url).origin, [], { ...listed, protocol: 'anthropic' })
    await using service = await startService({ providers: [entry] })
    expect(served([await chat(service.url, question({ model: 'two' }))])).toEqual(['200 a'])
    expect(a.hits.map(({ path }) => path)).toEqual([...Object.keys(pages), '/v1/messages'])
    const answer = await fetch(`${service.url}/v1/models`)
    expect(await answer.json()).toMatchObject({ data: [{ id: 'one', context: 200_000 }, { id: 'two' }] })
  })

  test.each([
    ['comes after one that offers the model', 'm', ['b', 'a']],
    ['comes first, while the request names another', 'b/m', ['a', 'b']],
  ] as const)('and which %s › is not waited for', async (_, model, order) => {
    const a = faultUpstream(listing(['m'], 2_000, good({ name: 'a' }))),
      b = faultUpstream(good({ name: 'b' }))
    const entries = { a: provider('a', a.url, [], listed), b: provider('b', b.url) }
    await using service = await startService({ providers: order.map((id) => entries[id]) })
    const started = performance.now()
    expect(served([await chat(service.url, question({ model }))])).toEqual(['200 b'])
    expect(performance.now() - started).toBeLessThan(1_000)
    for (const upstream of [a, b]) upstream.stop()
  })

  test('and whose entry a reload leaves as it is › keeps its list', async () => {
    const a = faultUpstream(listing(['m'], 0, good({ name: 'a' }))),
      b = faultUpstream(good({ name: 'b' }))
    const entry = provider('a', a.url, [], listed)
    await using service = await startService({ providers: [entry, provider('b', b.url)] })
    expect(served([await chat(service.url, question())])).toEqual(['200 a'])
    const asked = listsAsked(a)
    a.use(listing(['m'], 2_000, good({ name: 'a' })))
    await service.configure({ providers: [entry, provider('b', b.url, ['m', 'another'])] })
    await reloaded(service)
    const started = performance.now()
    expect(served(await Promise.all([chat(service.url, question()), chat(service.url, question())]))).toEqual(['200 a'])
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(served([await chat(service.url, question({ model: 'another' }))])).toEqual(['200 b'])
    expect(listsAsked(a)).toBe(asked)
    for (const upstream of [a, b]) upstream.stop()
  })

  test('and whose list cannot be fetched › is asked for any name; 2,000 made-up names affect no real one', async () => {
    using a = faultUpstream((exchange) =>
      (exchange.hit.method === 'GET' || !Buffer.from(exchange.hit.body).includes('"real"')
        ? status(404)
        : good({ name: 'a' }))(exchange),
    )
    await using service = await startService({ providers: [provider('a', a.url, [], listed)] })
    for (let batch = 0; batch < 100; batch++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, place) =>
          chat(service.url, question({ model: `made-up-${batch * 20 + place}` })),
        ),
      )
      expect(served(answers)).toEqual(['502 null'])
    }
    expect(served([await chat(service.url, question({ model: 'real' }))])).toEqual(['200 a'])
  })
})

describe('max_concurrent across a reload', () => {
  test('of an entry that is left as it is › counts the requests that began before', async () => {
    const a = faultUpstream(good({ name: 'a', tokens: 40, pauseMs: 30 })),
      b = faultUpstream(good({ name: 'b' }))
    const entry = provider('a', a.url, ['m'], { max_concurrent: 1 })
    await using service = await startService({ providers: [entry, provider('b', b.url)] })
    const arrived = a.nextHit()
    const stream = chat(service.url, question({ stream: true }))
    await arrived
    await service.configure({ providers: [entry, provider('b', b.url, ['m', 'another'])] })
    await reloaded(service)
    expect(served([await chat(service.url, question())])).toEqual(['200 b'])
    expect(served([await stream])).toEqual(['200 a'])
    expect(served([await chat(service.url, question())])).toEqual(['200 a'])
    for (const upstream of [a, b]) upstream.stop()
  })
})

describe('the list of models', () => {
  test('is read by the libraries of OpenAI and Anthropic, and their pages too', async () => {
    const a = faultUpstream(good()),
      b = faultUpstream(good())
    await using service = await startService({
      providers: [provider('a', a.url, ['one', 'vendor/two']), provider('b', b.url, ['three', 'one'])],
    })
    const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'any', maxRetries: 0 })
    const anthropic = new Anthropic({ baseURL: service.url, apiKey: 'any', maxRetries: 0 })
    const names = ['one', 'vendor/two', 'three']

    const listed = []
    for await (const { id, object, owned_by } of openai.models.list()) listed.push([id, object, owned_by])
    expect(listed).toEqual([
      ['one', 'model', 'a'],
      ['vendor/two', 'model', 'a'],
      ['three', 'model', 'b'],
    ])
    expect(await openai.models.retrieve('vendor/two')).toMatchObject({ id: 'vendor/two', owned_by: 'a' })

    for (const limit of [1, 2, 1000]) {
      const paged = []
      for await (const { id, type, display_name } of anthropic.models.list({ limit }))
        paged.push([id, type, display_name])
      expect(paged).toEqual(names.map((name) => [name, 'model', name]))
    }
    const backward = []
    for await (const { id } of anthropic.models.list({ limit: 1, before_id: 'three' })) backward.push(id)
    expect(backward).toEqual(['vendor/two', 'one'])
    const { id, created_at } = await anthropic.models.retrieve('vendor/two')
    expect([id, Number.isNaN(Date.parse(created_at))]).toEqual(['vendor/two', false])

    const unknown = await anthropic.models.retrieve('none').catch((error: unknown) => error)
    expect(unknown).toBeInstanceOf(Anthropic.NotFoundError)
    expect(unknown).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } })
    expect([...a.hits, ...b.hits]).toEqual([])
    for (const upstream of [a, b]) upstream.stop()
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chat, metric, parseJson, pick, question } from './client.ts'
import { faultUpstream, type Exchange, type FaultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { errorReply } from './fakes/replies.ts'
import { provider, runSvc, startService, type ServiceUnderTest } from './harness.ts'

const late = [
  { role: 'user', content: 'hi' },
  { role: 'system', content: 'be brief' },
  { role: 'user', content: 'why?' },
]

/** Roles of the messages that an upstream got last. */
function roles({ hits }: FaultUpstream): unknown {
  const messages = pick(parseJson(new TextDecoder().decode(hits.at(-1)?.body)), 'messages')
  return Array.isArray(messages) ? messages.map((message: unknown) => pick(message, 'role')) : messages
}

describe("an owner's profile", () => {
  const upstream = faultUpstream(good())
  const entry = (models: readonly unknown[], profile?: object) => ({
    providers: [{ id: 'a', base_url: upstream.url, models, ...(profile === undefined ? {} : { profile }) }],
  })
  let service: ServiceUnderTest
  beforeAll(async () => {
    service = await startService(JSON.stringify(entry(['qwen3-8b', 'plain'])))
  }, 40_000)
  afterAll(() => service[Symbol.asyncDispose]())

  const ask = async (model: string) => {
    expect((await chat(service.url, { model, messages: late })).status).toBe(200)
    return roles(upstream)
  }
  const reloads = 'svc_config_reloads_total{result="ok"}'
  /** Loads another file. */
  const load = async (config: object) => {
    const loads = await metric(service.url, reloads)
    await service.configure(JSON.stringify(config))
    for (let round = 0; round < 300; round++) {
      if ((await metric(service.url, reloads)) > loads) return
      await Bun.sleep(10)
    }
    throw new Error('not loaded')
  }

  test('makes a known habit looser, and adds one, at once after a reload', async () => {
    expect([await ask('qwen3-8b'), await ask('plain')]).toEqual([
      ['user', 'user', 'user'],
      ['user', 'system', 'user'],
    ])
    await load(entry(['qwen3-8b', 'plain'], { system: 'any' }))
    expect(await ask('qwen3-8b')).toEqual(['user', 'system', 'user'])
    await load(entry(['qwen3-8b', { name: 'plain', profile: { system: 'first' } }], { system: 'any' }))
    expect([await ask('qwen3-8b'), await ask('plain')]).toEqual([
      ['user', 'system', 'user'],
      ['user', 'user', 'user'],
    ])
  })

  test('is accepted by svc check, with its faults named', async () => {
    const check = async (profile: object) => {
      await Bun.write(`${service.home}/other.json`, JSON.stringify(entry(['m'], profile)))
      return runSvc(service.home, 'check', '--config', `${service.home}/other.json`)
    }
    expect((await check({ call_ids: 'short', sampling: { temperature: [0, 1] } })).out).toContain('valid, 1 provider')
    const { code, out, err } = await check({ callIds: 'short', system: 'last', stops: -1, efforts: ['much'] })
    expect(code).not.toBe(0)
    for (const words of [
      'profile.callIds: found an unknown field',
      '(did you mean "call_ids"?)',
      'profile.system: found "last", allowed: "any", "first", "none"',
      'profile.stops: found -1, allowed: an integer from 0',
      'profile.efforts[0]: found "much", allowed: "none", "minimal"',
    ])
      expect(out + err).toContain(words)
  })
})

/** A template that wants the system message first. */
async function strict(exchange: Exchange): Promise<void> {
  const messages = pick(parseJson(new TextDecoder().decode(exchange.hit.body)), 'messages')
  const isLate = Array.isArray(messages) && messages.slice(1).some((message) => pick(message, 'role') === 'system')
  if (!isLate) return good()(exchange)
  return exchange.write(errorReply(400, { message: 'System message must be at the beginning.' }))
}

describe.each([[[]], [['--workers', '2']]])('a lesson of a refusal, with %j', (flags) => {
  test('is counted, and listed for owners, in the API and by svc providers', async () => {
    const upstream = faultUpstream(strict)
    await using service = await startService({ providers: [provider('a', upstream.url)] }, { flags })
    for (let asked = 0; asked < 12; asked++)
      expect((await chat(service.url, question({ messages: late }))).status).toBe(200)
    const taught = upstream.hits.length - 12
    expect(taught).toBeGreaterThan(0)
    expect(taught).toBeLessThanOrEqual(flags.length === 0 ? 1 : 2)
    const name = 'svc_adapted_requests_total{provider="a",model="m",trait="system_first"}'
    expect(await metric(service.url, name)).toBe(taught)
    const { providers } = (await (await fetch(`${service.url}/api/providers`)).json()) as { providers: unknown }
    expect(pick(providers, 0, 'lessons')).toEqual([{ time: expect.any(Number), model: 'm', trait: 'system_first' }])
    const listed = await runSvc(service.home, 'providers', '--url', service.url)
    expect(listed.out).toMatch(/a +m +system_first/)
  }, 40_000)
})

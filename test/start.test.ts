import { describe, expect, test } from 'bun:test'
import { chat, errorOf, parseJson, pick, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { provider, startService } from './harness.ts'
import { startRig } from './rig.ts'

describe('starting', () => {
  test('on a port that is taken › exits with 1 and an error, and the other service goes on', async () => {
    await using rig = await startRig([(exchange) => exchange.hang()])
    const failure = await startService(
      { providers: [provider('a', rig.upstreams[0]?.url ?? '')] },
      { flags: ['--port', String(rig.service.port)] },
    ).then((second) => second.stop().then(() => 'it started'), String)
    expect(failure).toContain('exited with 1')
    expect(failure).toContain(
      `port ${rig.service.port} of 127.0.0.1 is in use: choose another with --port, or 0 for a free one`,
    )
    expect((await fetch(`${rig.service.url}/health`)).status).toBe(200)
  })

  test('with no provider at all › the echo answers, plain and streamed', async () => {
    await using service = await startService({ providers: [{ id: 'echo', protocol: 'echo', models: ['echo'] }] })
    const messages = [{ role: 'user', content: 'Grüße, wie geht es?' }]
    expect((await chat(service.url, question({ model: 'echo', messages }))).content).toBe('Grüße, wie geht es?')
    expect((await chat(service.url, question({ model: 'echo', messages, stream: true }))).content).toBe(
      'Grüße, wie geht es?',
    )
  })

  test('with every provider unusable › is not ready, and every request gets an error', async () => {
    const upstream = faultUpstream()
    await using service = await startService({ providers: [provider('a', upstream.url, ['m'], { enabled: false })] })
    expect((await fetch(`${service.url}/ready`)).status).toBe(503)
    const answer = await chat(service.url, question())
    expect([answer.status, errorOf(answer)?.code]).toEqual([404, 'model_not_found'])
    expect(pick(parseJson(await (await fetch(`${service.url}/v1/models`)).text()), 'data')).toEqual([])
    upstream.stop()
  })

  test('is quick', async () => {
    const started = performance.now()
    await using rig = await startRig([(exchange) => exchange.hang()])
    expect(rig.service.port).toBeGreaterThan(0)
    // The promise is 300 ms on an idle machine.
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})

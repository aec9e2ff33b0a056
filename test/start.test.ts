import { describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { chat, errorOf, parseJson, pick, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { provider, runSvc, startService } from './harness.ts'
import { until } from './ledger-rig.ts'
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
    using upstream = faultUpstream()
    await using service = await startService({ providers: [provider('a', upstream.url, ['m'], { enabled: false })] })
    expect((await fetch(`${service.url}/ready`)).status).toBe(503)
    const answer = await chat(service.url, question())
    expect([answer.status, errorOf(answer)?.code]).toEqual([404, 'model_not_found'])
    expect(pick(parseJson(await (await fetch(`${service.url}/v1/models`)).text()), 'data')).toEqual([])
  })

  describe('with a file that is a dangling link', () => {
    const files = ['access.json', 'prices.json', 'presets.json', 'providers.json', 'users/default/keys/config.json']
    const cases = files.flatMap((file) => [[file, []] as const, [file, ['--workers', '2']] as const])
    test.each(cases)('%s › exits with 2 and one sentence, and is a fault for svc check: %j', async (file, flags) => {
      const home = mkdtempSync(join(tmpdir(), 'svc-start-'))
      const link = join(home, file)
      mkdirSync(dirname(link), { recursive: true })
      if (file !== 'providers.json')
        await Bun.write(join(home, 'providers.json'), JSON.stringify({ providers: [{ id: 'echo', protocol: 'echo' }] }))
      symlinkSync(join(home, 'not-mounted'), link)
      try {
        const fault = `${link}: found a dangling symbolic link, allowed: a readable file, or none`
        const failure = await startService(undefined, {
          environment: { SVC_HOME: home },
          flags: ['--auth', 'keys', ...flags],
        }).then((service) => service.stop().then(() => 'it started'), String)
        expect(failure).toContain('exited with 2')
        expect(failure.split(fault).length).toBe(2)
        // Only the service knows which extensions are on.
        if (!file.startsWith('users/')) {
          const { code, out, err } = await runSvc(home, 'check', '--files-only')
          expect([code, out + err]).toEqual([1, expect.stringContaining(fault)])
        }
      } finally {
        rmSync(home, { recursive: true })
      }
    })

    test('that dangles later › keeps the limits of its last content', async () => {
      const access = JSON.stringify({ limits: [{ for: 'everyone', requests: 0 }] })
      await using service = await startService(
        { providers: [{ id: 'echo', protocol: 'echo', models: ['echo'] }] },
        { files: { 'access.json': access } },
      )
      const path = join(service.home, 'access.json')
      rmSync(path)
      symlinkSync(join(service.home, 'not-mounted'), path)
      await until(() => service.logs.some(({ reason }) => String(reason).includes('a dangling symbolic link')))
      expect((await chat(service.url, question({ model: 'echo' }))).status).toBe(429)
    })
  })

  test('is quick', async () => {
    const started = performance.now()
    await using rig = await startRig([(exchange) => exchange.hang()])
    expect(rig.service.port).toBeGreaterThan(0)
    // The promise is 300 ms on an idle machine.
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chat, question, trailOf } from './client.ts'
import { makeCertificate } from './fakes/certificates.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { proxyNames, startProxy } from './fakes/proxies.ts'
import { provider, runSvcWith, startService, type ServiceUnderTest } from './harness.ts'
import { needs } from './needs.ts'
import { freePort } from './ports.ts'

const authority = makeCertificate({ host: 'authority', isAuthority: true })
const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-files-'))
const file = (name: string): string => join(folder, name)
writeFileSync(file('ca.pem'), authority.cert)
const secure = faultUpstream(good({ name: 'secure' }), {
  hostname: '127.0.0.1',
  tls: makeCertificate({ host: '127.0.0.1', issuer: authority }),
})
const plain = faultUpstream(good({ name: 'plain' }))
const spare = faultUpstream(good({ name: 'spare' }))
afterAll(() => {
  for (const upstream of [secure, plain, spare]) upstream.stop()
  rmSync(folder, { recursive: true, force: true })
})

const tls = { ca: file('ca.pem') }

/** Names and classes of those who were asked. */
async function asked({ url }: ServiceUnderTest, model: string): Promise<readonly (string | undefined)[]> {
  const answer = await chat(url, question({ model, stream: true }))
  return trailOf(answer).map(({ name, class: failure }) => failure ?? name)
}

/** Asks until the provider answers. */
async function until(service: ServiceUnderTest, model: string, id: string): Promise<void> {
  for (const deadline = performance.now() + 5_000; (await asked(service, model)).at(-1) !== id; await Bun.sleep(20))
    if (performance.now() > deadline) throw new Error(`${id} does not answer:\n${service.output}`)
}

describe.each(proxyNames)('behind %s', (name) => {
  test.skipIf(needs(name) === undefined)(
    'providers are asked through it, a stream as well, and fail over like others',
    async () => {
      const proxy = await startProxy(name, 'p4ss-of-proxy')
      await writeFile(file(name), proxy.url)
      const way = { proxy: { file: file(name) } }
      await using service = await startService({
        providers: [
          provider('secure', secure.url, ['s'], { ...way, tls }),
          provider('plain', plain.url, ['p'], way),
          provider('spare', spare.url, ['s', 'p']),
        ],
      })
      expect([await asked(service, 's'), await asked(service, 'p')]).toEqual([['secure'], ['plain']])
      expect(plain.hits.at(-1)?.headers.get('proxy-authorization')).toBeUndefined()

      // Another password, before the proxy knows it.
      await writeFile(file('next'), proxy.url.replace('p4ss', 'w0rd'))
      await rename(file('next'), file(name))
      await until(service, 's', 'spare')
      expect([await asked(service, 's'), await asked(service, 'p')]).toEqual([
        ['credential', 'spare'],
        ['credential', 'spare'],
      ])
      await writeFile(file('next'), proxy.url)
      await rename(file('next'), file(name))
      await until(service, 's', 'secure')

      await proxy.kill()
      expect([await asked(service, 's'), await asked(service, 'p')]).toEqual([
        ['connect', 'spare'],
        ['connect', 'spare'],
      ])
      expect(service.output).not.toMatch(/p4ss|w0rd|Basic/)
    },
    60_000,
  )
})

test('a proxy of the environment is used, but not for this machine, and one that cannot be used is said', async () => {
  const proxy = `http://user:p4ss@127.0.0.1:${freePort()}`
  await using service = await startService(
    { providers: [provider('far', 'http://models.test/v1'), provider('here', spare.url)] },
    { environment: { HTTP_PROXY: proxy } },
  )
  expect(await asked(service, 'm')).toEqual(['connect', 'here'])
  expect(service.output).not.toContain('p4ss')

  const config = { providers: [{ id: 'groq', api_key: 'k', models: ['m'] }] }
  const home = mkdtempSync(join(tmpdir(), 'svc-proxy-home-'))
  try {
    writeFileSync(join(home, 'providers.json'), JSON.stringify(config))
    const { out, code } = await runSvcWith({ HTTPS_PROXY: 'https://user:p4ss@proxy.test' }, home, 'check')
    expect(out).toContain('groq')
    expect(out).toContain('HTTPS_PROXY has an invalid value')
    expect(out).not.toContain('p4ss')
    expect(code).toBe(1)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

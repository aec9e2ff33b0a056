import { describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { chat, metric, question } from './client.ts'
import type { Answer } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { provider, startService } from './harness.ts'
import type { ServiceConfig, ServiceUnderTest } from './harness.ts'

/** A repaired file takes over within so long. */
const takeOverMsMax = 1_000

const a = faultUpstream(good({ name: 'a' })),
  b = faultUpstream(good({ name: 'b' }))
const first: ServiceConfig = { providers: [provider('a', a.url), provider('b', b.url)] }
const swapped: ServiceConfig = { providers: [provider('b', b.url), provider('a', a.url)] }

/** Who serves model `m` now. */
async function server(service: ServiceUnderTest): Promise<string | null> {
  return (await chat(service.url, question())).headers.get('x-svc-provider')
}

/** Asks until `id` serves, and returns the milliseconds it took. @throws when it takes too long */
async function takeOver(service: ServiceUnderTest, id: string): Promise<number> {
  const started = performance.now()
  while ((await server(service)) !== id) {
    if (performance.now() - started > 5_000) throw new Error(`${id} did not take over:\n${service.output}`)
    await Bun.sleep(5)
  }
  return performance.now() - started
}

/** Waits until a log line contains every one of these. */
async function logged(service: ServiceUnderTest, ...words: readonly string[]): Promise<string> {
  for (let round = 0; round < 200; round++) {
    const line = service.output.split('\n').find((each) => words.every((word) => each.includes(word)))
    if (line !== undefined) return line
    await Bun.sleep(10)
  }
  throw new Error(`no log line with ${words.join(', ')}:\n${service.output}`)
}

/** Requests without pause from four clients until told to stop, which returns all answers. */
function load(service: ServiceUnderTest): () => Promise<readonly Answer[]> {
  let isOver = false
  const workers = Array.from({ length: 4 }, async (_, worker) => {
    const answers: Answer[] = []
    while (!isOver) answers.push(await chat(service.url, question(worker % 2 === 0 ? { stream: true } : {})))
    return answers
  })
  return async () => {
    isOver = true
    return (await Promise.all(workers)).flat()
  }
}

describe('providers.json edited while requests run', () => {
  test.each([
    ['broken JSON', '{"providers": [', 'providers.json'],
    ['an unknown field', JSON.stringify({ providers: [{ ...provider('a', a.url), base_urll: 'x' }] }), 'base_urll'],
    ['a wrong type', JSON.stringify({ providers: [{ ...provider('b', b.url), retries: 'two' }] }), 'retries'],
    ['an empty file', '', 'providers.json'],
    ['null', 'null', 'providers.json'],
    ['bytes that are not UTF-8', '\ud800', 'providers.json'],
  ])(
    'to %s › no request fails, the fault is named, the old order stays; repaired, the new one takes over',
    async (_, text, named) => {
      await using service = await startService(first)
      const stop = load(service)
      await Bun.sleep(50)
      await service.configure(text)
      await logged(service, '"error"', named)
      expect(await server(service)).toBe('a')
      await service.configure(swapped)
      expect(await takeOver(service, 'b')).toBeLessThan(takeOverMsMax)
      const answers = await stop()
      expect(answers.length).toBeGreaterThan(10)
      expect(
        answers
          .filter(({ status, content }) => status !== 200 || !/^(a|b)-0 \1-1 \1-2 $/.test(content))
          .map(({ text }) => text),
      ).toEqual([])
      expect(await metric(service.url, 'svc_config_reloads_total{result="failed"}')).toBeGreaterThan(0)
    },
  )

  test('by rename › takes over within a second', async () => {
    await using service = await startService(first)
    await service.configure(swapped)
    expect(await takeOver(service, 'b')).toBeLessThan(takeOverMsMax)
    await service.configure(first)
    expect(await takeOver(service, 'a')).toBeLessThan(takeOverMsMax)
  })

  test('in place › takes over within a second', async () => {
    await using service = await startService(first)
    await writeFile(service.file, JSON.stringify(swapped))
    expect(await takeOver(service, 'b')).toBeLessThan(takeOverMsMax)
  })

  test('SIGHUP › reloads', async () => {
    await using service = await startService(first)
    await service.configure(swapped)
    service.signal('SIGHUP')
    expect(await takeOver(service, 'b')).toBeLessThan(takeOverMsMax)
  })

  test('a stream under way › finishes on the old order', async () => {
    const slow = faultUpstream(good({ name: 'slow', tokens: 30, pauseMs: 20 }))
    await using service = await startService({ providers: [provider('slow', slow.url), provider('b', b.url)] })
    const arrived = slow.nextHit()
    const stream = chat(service.url, question({ stream: true }))
    await arrived
    await service.configure({ providers: [provider('b', b.url)] })
    await takeOver(service, 'b')
    const answer = await stream
    expect([answer.headers.get('x-svc-provider'), answer.content.split(' ').length]).toEqual(['slow', 31])
    slow.stop()
  })

  test('thirty times in a row under load › fails no request', async () => {
    await using service = await startService(first)
    const stop = load(service)
    for (let round = 0; round < 30; round++) {
      await service.configure(round % 2 === 0 ? swapped : first)
      await Bun.sleep(10)
    }
    const answers = await stop()
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
    await service.configure(swapped)
    await takeOver(service, 'b')
  })

  test('so that the health of a provider that stays is kept', async () => {
    const failing = faultUpstream((exchange) =>
      exchange.write('HTTP/1.1 429 Wait\r\nretry-after: 30\r\ncontent-length: 0\r\n\r\n'),
    )
    await using service = await startService({ providers: [provider('failing', failing.url), provider('a', a.url)] })
    await server(service)
    await service.configure({ providers: [provider('failing', failing.url), provider('b', b.url)] })
    await takeOver(service, 'b')
    expect(failing.hits.length).toBe(1)
    failing.stop()
  })
})

describe('a configuration that is invalid at the start', () => {
  test.each([
    ['broken JSON', '{"providers": [', 'providers.json'],
    ['an unknown field', JSON.stringify({ providers: [{ ...provider('a', a.url), base_urll: 'x' }] }), 'base_urll'],
  ])('%s › exits with 2 and names it', async (_, text, named) => {
    const failure = await startService(text).then((service) => service.stop().then(() => 'it started'), String)
    expect(failure).toContain('exited with 2')
    expect(failure).toContain(named)
  })
})

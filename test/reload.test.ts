import { describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { chat, metric, question, type Answer } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { provider, startService, type ServiceConfig, type ServiceUnderTest } from './harness.ts'

/** Time limit for loading a repaired file. */
const reloadMsMax = 1_000

const a = faultUpstream(good({ name: 'a' })),
  b = faultUpstream(good({ name: 'b' }))
const first: ServiceConfig = { providers: [provider('a', a.url), provider('b', b.url)] }
const swapped: ServiceConfig = { providers: [provider('b', b.url), provider('a', a.url)] }

/** Id of the provider that serves model `m` now. */
async function server(service: ServiceUnderTest): Promise<string | null> {
  return (await chat(service.url, question())).headers.get('x-svc-provider')
}

/** Repeats requests until `id` serves. @returns milliseconds @throws after 5 s */
async function untilServedBy(service: ServiceUnderTest, id: string): Promise<number> {
  const started = performance.now()
  while ((await server(service)) !== id) {
    if (performance.now() - started > 5_000) throw new Error(`${id} does not serve:\n${service.output}`)
    await Bun.sleep(5)
  }
  return performance.now() - started
}

/** Waits for a log line that contains all `words`. */
async function logged(service: ServiceUnderTest, ...words: readonly string[]): Promise<string> {
  for (let round = 0; round < 200; round++) {
    const line = service.output.split('\n').find((each) => words.every((word) => each.includes(word)))
    if (line !== undefined) return line
    await Bun.sleep(10)
  }
  throw new Error(`no log line with ${words.join(', ')}:\n${service.output}`)
}

/** Sends requests without pause from four clients. @returns a function that stops them and returns all answers */
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
      expect(await untilServedBy(service, 'b')).toBeLessThan(reloadMsMax)
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

  test('by rename › is loaded within a second', async () => {
    await using service = await startService(first)
    await service.configure(swapped)
    expect(await untilServedBy(service, 'b')).toBeLessThan(reloadMsMax)
    await service.configure(first)
    expect(await untilServedBy(service, 'a')).toBeLessThan(reloadMsMax)
  })

  test('in place › is loaded within a second', async () => {
    await using service = await startService(first)
    await writeFile(service.file, JSON.stringify(swapped))
    expect(await untilServedBy(service, 'b')).toBeLessThan(reloadMsMax)
  })

  test('SIGHUP › reloads', async () => {
    await using service = await startService(first)
    await service.configure(swapped)
    service.signal('SIGHUP')
    expect(await untilServedBy(service, 'b')).toBeLessThan(reloadMsMax)
  })

  test.each([
    ['one process', []],
    ['workers', ['--workers', '2']],
  ])('deleted, with SIGHUP too › the last configuration stays, with %s', async (_, flags) => {
    await using service = await startService(undefined, { flags, files: { 'providers.json': JSON.stringify(first) } })
    const reports = () => service.output.split('no file any more').length - 1
    await service.write('providers.json', undefined)
    await logged(service, 'no file any more')
    service.signal('SIGHUP')
    for (let round = 0; round < 500 && reports() < 2 && !service.output.includes('reloaded"'); round++)
      await Bun.sleep(10)
    expect([reports(), service.output.includes('"configuration reloaded"')]).toEqual([2, false])
    expect(await server(service)).toBe('a')
    await service.configure(swapped)
    expect(await untilServedBy(service, 'b')).toBeLessThan(reloadMsMax)
  })

  test('a stream under way › finishes on the old order', async () => {
    using slow = faultUpstream(good({ name: 'slow', tokens: 30, pauseMs: 20 }))
    await using service = await startService({ providers: [provider('slow', slow.url), provider('b', b.url)] })
    const arrived = slow.nextHit()
    const stream = chat(service.url, question({ stream: true }))
    await arrived
    await service.configure({ providers: [provider('b', b.url)] })
    await untilServedBy(service, 'b')
    const answer = await stream
    expect([answer.headers.get('x-svc-provider'), answer.content.split(' ').length]).toEqual(['slow', 31])
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
    await untilServedBy(service, 'b')
  })

  test('so that the health of a provider that stays is kept', async () => {
    using failing = faultUpstream((exchange) =>
      exchange.write('HTTP/1.1 429 Wait\r\nretry-after: 30\r\ncontent-length: 0\r\n\r\n'),
    )
    await using service = await startService({ providers: [provider('failing', failing.url), provider('a', a.url)] })
    await server(service)
    await service.configure({ providers: [provider('failing', failing.url), provider('b', b.url)] })
    await untilServedBy(service, 'b')
    expect(failing.hits.length).toBe(1)
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

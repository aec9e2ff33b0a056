import { expect, test } from 'bun:test'
import { chat, pick, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'

const upstream = faultUpstream(good())

function prices(input: number): string {
  return JSON.stringify({ prices: { a: { '*': { input, output: 0 } } } })
}

/** The cost of a new request, as it is remembered. */
async function costNow({ url }: ServiceUnderTest): Promise<unknown> {
  const { headers } = await chat(url, question())
  const request: unknown = await (await fetch(`${url}/api/requests/${headers.get('x-request-id')}`)).json()
  return [pick(request, 'cost'), pick(request, 'costSource')]
}

async function until(claim: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; !(await claim()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error('it never came true')
}

test('prices.json is loaded by all workers, and again when it changes; a faulty one changes nothing', async () => {
  await using service = await startService(
    { providers: [provider('a', upstream.url)] },
    { files: { 'prices.json': prices(1) }, flags: ['--workers', '2'] },
  )
  expect(await costNow(service)).toEqual([0.000003, 'prices.json'])
  const models: unknown = await (await fetch(`${service.url}/v1/models/m`)).json()
  expect(pick(models, 'price')).toEqual({ input: 1, output: 0 })
  await service.write('prices.json', '{"prices":{"a":{"m":{"input":-1,"output":0}}}}')
  await until(async () => service.output.includes('prices.a.m.input: found -1'))
  expect(await costNow(service)).toEqual([0.000003, 'prices.json'])
  await service.write('prices.json', prices(2))
  await until(async () => service.output.includes('prices reloaded'))
  const after = await Promise.all(Array.from({ length: 8 }, () => costNow(service)))
  expect(after).toEqual(after.map(() => [0.000006, 'prices.json']))
  await service.write('prices.json', undefined)
  await until(async () => (await costNow(service))?.toString() === ',')
})

test('a faulty prices.json at the start is reported, and nothing is served', async () => {
  const started = startService(
    { providers: [provider('a', upstream.url)] },
    { files: { 'prices.json': '{"prices":{"a":{"m":{"input":1}}}}' } },
  )
  await expect(started).rejects.toThrow(/prices\.json:1:21: prices\.a\.m\.output: found nothing/)
})

import { expect, test } from 'bun:test'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, startService } from '../harness.ts'
import { liveHeap } from './live-heap.ts'

test('the primary and each worker tell what lives in them, since the beginning that is asked for', async () => {
  await using heap = await liveHeap(50)
  const upstream = faultUpstream(good())
  await using service = await startService(
    { providers: [provider('a', upstream.url)] },
    { flags: ['--workers', '2'], environment: heap.environment },
  )
  const began = Date.now()
  const told = async () => await heap.measured(began)
  while (new Set((await told()).flatMap(({ values }) => [...values.keys()])).size < 3) await Bun.sleep(50)
  const measured = await told()
  expect(new Set(measured.flatMap(({ values }) => [...values.keys()]))).toContain(service.pid)
  expect(
    measured.every(
      ({ atSeconds, values }) =>
        atSeconds >= 0 && [...values.values()].every((mebibytes) => mebibytes > 0.5 && mebibytes < 100),
    ),
  ).toBe(true)
  upstream.stop()
}, 20_000)

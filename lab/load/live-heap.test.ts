import { expect, test } from 'bun:test'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider, startService } from '../../test/harness.ts'
import { liveHeap } from './live-heap.ts'

test('the primary and each worker report their live heap, from the requested time on', async () => {
  await using heap = await liveHeap(50)
  using upstream = faultUpstream(good())
  await using service = await startService(
    { providers: [provider('a', upstream.url)] },
    { flags: ['--workers', '2'], environment: heap.environment },
  )
  const began = Date.now()
  const read = async () => await heap.measured(began)
  while (new Set((await read()).flatMap(({ values }) => [...values.keys()])).size < 3) await Bun.sleep(50)
  const measured = await read()
  expect(new Set(measured.flatMap(({ values }) => [...values.keys()]))).toContain(service.pid)
  expect(
    measured.every(
      ({ atSeconds, values }) =>
        atSeconds >= 0 && [...values.values()].every((mebibytes) => mebibytes > 0.5 && mebibytes < 100),
    ),
  ).toBe(true)
}, 20_000)

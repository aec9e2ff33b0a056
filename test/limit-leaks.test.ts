import { expect, test } from 'bun:test'
import { chat, pick, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { byPath, modes } from './fakes/modes.ts'
import { startService } from './harness.ts'

const slotsMax = 1_000
const settings = { timeouts: { connect_ms: 200, first_token_ms: 300, idle_ms: 300, attempt_ms: 300 } }

/** Free slots, as the service shows them. */
async function freeSlots(url: string): Promise<unknown> {
  const shown: unknown = await (await fetch(`${url}/v1/key`)).json()
  return pick(shown, 'limits', 0, 'remaining')
}

async function until(claim: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; !(await claim()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error('it never came true')
}

test.each([[[]], [['--workers', '2']]])(
  'no fault of an upstream and no leaving client keeps a slot, with flags %j',
  async (flags) => {
    using upstream = faultUpstream(byPath())
    const names = Object.keys(modes)
    expect(names.length).toBeGreaterThan(80)
    const providers = names.map((name, index) => ({
      id: `p${index}`,
      base_url: upstream.url.replace('/v1', `/mode/${name}/v1`),
      models: [`m${index}`],
      ...settings,
    }))
    const files = { 'access.json': JSON.stringify({ limits: [{ for: 'everyone', at_once: slotsMax }] }) }
    await using service = await startService({ providers }, { files, flags })
    const asks = names.flatMap((_, index) =>
      [false, true].flatMap((stream) =>
        [undefined, 30].map((leavesAfterMs) => ({ model: `m${index}`, stream, leavesAfterMs })),
      ),
    )
    let statuses = 0
    while (asks.length > 0)
      await Promise.all(
        asks.splice(0, 60).map(async ({ model, stream, leavesAfterMs }) => {
          // Some streams have no end: their client leaves.
          const signal = AbortSignal.timeout(leavesAfterMs ?? 2_000)
          const answer = await chat(service.url, question({ model, stream }), { signal }).catch(() => undefined)
          if (answer !== undefined) statuses += 1
        }),
      )
    expect(statuses).toBeGreaterThan(names.length)
    await until(async () => (await freeSlots(service.url)) === slotsMax)
  },
  60_000,
)

import { afterAll, expect, test } from 'bun:test'
import { testedReceiver, testedSecret } from '../src/observe/webhook/testing.ts'
import { chat, pick, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { metered, price } from './fakes/metered.ts'
import { completion, reply } from './fakes/replies.ts'
import { startService } from './harness.ts'

const receiver = testedReceiver()
const faults: unknown[] = []
const hook = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body = await request.text()
    try {
      receiver.take(request.headers, body)
    } catch (error) {
      faults.push(error)
    }
    // The first try fails: a message is repeated.
    return new Response(null, { status: receiver.messages.length === 1 ? 503 : 204 })
  },
})
const { upstream: paid } = metered()
let isDown = true
const fragile = faultUpstream((exchange) =>
  exchange.write(reply(isDown ? 500 : 200, isDown ? '{}' : JSON.stringify(completion('text')))),
)
afterAll(async () => {
  await hook.stop(true)
  paid.stop()
  fragile.stop()
})

test('workers alert once of a budget, of a model that fails and of its return, and keep the secret', async () => {
  await using service = await startService(
    JSON.stringify({
      providers: [
        { id: 'paid', base_url: paid.url, models: [{ name: 'm', price }] },
        { id: 'fragile', base_url: fragile.url, models: [{ name: 'frail', price: 0 }] },
      ],
    }),
    {
      flags: ['--workers', '2'],
      environment: { HOOK: `whsec_${testedSecret}` },
      files: {
        'access.json': JSON.stringify({
          limits: [{ for: 'everyone', usd: 0.0001, per: 'total' }],
          webhook: { url: hook.url.href, secret: '$HOOK' },
        }),
      },
    },
  )
  const found = (type: string) => receiver.messages.filter((message) => message['type'] === type)
  const until = async (isThere: () => boolean) => {
    for (let turn = 0; turn < 300 && !isThere(); turn++) await Bun.sleep(10)
  }
  for (let turn = 0; turn < 8; turn++) await chat(service.url, question({ max_tokens: 5 }))
  await until(() => found('budget.threshold').some(({ data }) => pick(data, 'percent') === 100))
  for (let turn = 0; turn < 2; turn++) await chat(service.url, question({ model: 'frail' }))
  await until(() => found('model.failing').length > 0)
  isDown = false
  await chat(service.url, question({ model: 'frail' }))
  await until(() => found('model.served').length > 0)
  expect(faults).toEqual([])
  // One was sent twice.
  expect(new Set(receiver.ids).size).toBe(receiver.ids.length - 1)
  const shares = found('budget.threshold').map(({ data }) => pick(data, 'percent'))
  expect([...new Set(shares)]).toHaveLength(shares.length - 1)
  expect(found('budget.threshold').at(-1)).toMatchObject({
    data: { limit: 'everyone, in total', percent: 100, limit_usd: 0.0001, window_end: null },
  })
  expect(found('model.failing').map(({ data }) => data)).toMatchObject([{ model: 'frail', status: 502 }])
  expect(found('model.served').map(({ data }) => data)).toMatchObject([{ model: 'frail', provider: 'fragile' }])
  expect(JSON.stringify([receiver.messages, service.logs])).not.toContain(testedSecret)
})

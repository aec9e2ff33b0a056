import { describe, expect, test } from 'bun:test'
import { testedReceiver, testedSecret } from './testing.ts'
import { Webhook, type Alert } from './webhook.ts'

const alertOf = (identity: string): Alert => ({ identity, type: 'budget.threshold', data: { percent: 80 } })

/** A webhook whose receiver gives these statuses, then 204. */
function subject(...statuses: readonly (number | Error)[]) {
  const receiver = testedReceiver()
  const warned: unknown[] = []
  const waits: number[] = []
  let tries = 0
  let time = Date.now()
  const webhook = new Webhook({
    async post(headers, body) {
      const status = statuses[tries++] ?? 204
      if (status instanceof Error) throw status
      receiver.take(new Headers(headers), Buffer.concat(body).toString())
      return { status }
    },
    secret: testedSecret,
    warn: (message, fields) => void warned.push([message, fields]),
    // Each look at the clock is a second later.
    now: () => (time += 1_000),
    wait: async (ms) => void waits.push(ms),
  })
  return { webhook, receiver, warned, waits, tries: () => tries }
}

async function settled(claim: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !claim(); turn++) await Promise.resolve()
}

describe('the webhook', () => {
  test('sends an alert once, signed, with the time at which it was made', async () => {
    const { webhook, receiver } = subject()
    webhook.send(alertOf('a'))
    webhook.send(alertOf('a'))
    webhook.send(alertOf('b'))
    await settled(() => receiver.messages.length === 2)
    await webhook.close()
    expect(receiver.messages).toMatchObject([
      { type: 'budget.threshold', data: { percent: 80 }, timestamp: expect.stringMatching(/^20\d\d-.*Z$/) },
      { type: 'budget.threshold' },
    ])
    expect(new Set(receiver.ids).size).toBe(2)
    expect(receiver.ids[0]).toMatch(/^msg_[\w-]{27}$/)
  })

  test('gives the same alert the same id in every process, which says nothing without the secret', async () => {
    const [one, other] = [subject(), subject()]
    for (const { webhook } of [one, other]) webhook.send(alertOf('budget of ann'))
    await settled(() => other.receiver.ids.length > 0)
    expect(one.receiver.ids).toEqual(other.receiver.ids)
  })

  test('repeats after lost connections, 429 and 5xx with the same id and a new time', async () => {
    const { webhook, receiver, waits } = subject(429, 500, new Error('reset'), 503)
    webhook.send(alertOf('a'))
    await settled(() => receiver.messages.length === 4)
    expect(waits).toHaveLength(4)
    expect(new Set(receiver.ids).size).toBe(1)
    expect(new Set(receiver.times).size).toBe(4)
    expect(webhook.dropped).toBe(0)
    await webhook.close()
  })

  test.each([301, 307, 400, 410])('does not repeat after status %d, and logs the loss', async (status) => {
    const { webhook, warned, tries } = subject(status)
    webhook.send(alertOf('a'))
    await settled(() => warned.length > 0)
    expect(tries()).toBe(1)
    expect(warned).toEqual([['alerts were lost', { alerts: 1, reason: `status ${status}` }]])
    await webhook.close()
  })

  test('drops and counts what does not fit while the receiver is slow', async () => {
    const answer = Promise.withResolvers<{ status: number }>()
    const warned: unknown[] = []
    const webhook = new Webhook({
      ...{ post: () => answer.promise, secret: testedSecret, now: Date.now },
      warn: (_, fields) => void warned.push(fields),
    })
    for (let count = 0; count < 150; count += 1) webhook.send(alertOf(String(count)))
    expect(webhook.dropped).toBe(49)
    expect(warned).toEqual([{ alerts: 1, reason: 'too many wait' }])
    answer.resolve({ status: 204 })
    await webhook.close()
    expect(webhook.dropped).toBe(49)
    expect(warned.at(-1)).toEqual({ alerts: 48, reason: 'the service ends' })
  })

  test('sends an alert that was lost when it comes again', async () => {
    const { webhook, receiver } = subject(400)
    webhook.send(alertOf('a'))
    await settled(() => webhook.dropped === 1)
    webhook.send(alertOf('a'))
    await settled(() => receiver.messages.length === 2)
    expect(new Set(receiver.ids).size).toBe(1)
    expect(webhook.dropped).toBe(1)
    await webhook.close()
  })

  test('keeps room for budgets, whatever names of models callers choose', async () => {
    const answer = Promise.withResolvers<{ status: number }>()
    const webhook = new Webhook({
      ...{ post: () => answer.promise, secret: testedSecret, now: Date.now, warn: () => undefined },
    })
    for (let count = 0; count < 150; count += 1) webhook.send({ ...alertOf(String(count)), type: 'model.failing' })
    const lost = webhook.dropped
    webhook.send({ ...alertOf('budget'), type: 'budget.threshold' })
    expect(webhook.dropped).toBe(lost)
    answer.resolve({ status: 204 })
    await webhook.close()
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newKey } from '../src/people/keys/key-form.ts'
import { parseJson, pick } from './client.ts'
import { status } from './fakes/faults/status.ts'
import { good, goodText } from './fakes/good.ts'
import { runSvc } from './harness.ts'
import { startRig, type Rig } from './rig.ts'

const paced = { name: 'a', tokens: 20, pauseMs: 10 } as const
const text = goodText(paced)

describe.each(['1', '3'])('requests with Idempotency-Key at %s workers', (workers) => {
  let rig: Rig
  beforeAll(async () => {
    rig = await startRig([good(paced)], { flags: ['--auth', 'keys', '--workers', workers] })
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  async function key(): Promise<string> {
    const made = await runSvc(rig.service.home, 'keys', 'make', '--name', 'once', '--json')
    return String(pick(parseJson(made.out), 'key'))
  }

  /** Asks over a connection of its own. */
  const headersOf = (bearer: string, id: string) => ({
    authorization: `Bearer ${bearer}`,
    'idempotency-key': id,
    connection: 'close',
  })

  test('are asked for once, whole or as a stream, however often they are repeated', async () => {
    const headers = headersOf(await key(), 'first try')
    expect((await rig.ask({}, headers)).status).toBe(400)
    const before = rig.hits()[0] ?? 0
    for (const [id, ask] of [
      ['whole', rig.ask],
      ['stream', rig.askStream],
    ] as const) {
      const own = { ...headers, 'idempotency-key': id }
      const first = await ask({}, own)
      expect([first.status, first.content, first.headers.get('x-svc-replayed')]).toEqual([200, text, null])
      for (const again of await Promise.all(Array.from({ length: 9 }, () => ask({}, own))))
        expect([again.status, again.text, again.headers.get('x-svc-replayed')]).toEqual([200, first.text, '1'])
    }
    expect(rig.hits()).toEqual([before + 2])
  })

  test('whose client has left are finished, and a repeat gets all of it', async () => {
    const headers = headersOf(await key(), 'left')
    const before = rig.hits()[0] ?? 0
    const abort = new AbortController()
    const init = { method: 'POST', headers, signal: abort.signal, body: JSON.stringify({ ...streamed }) }
    const response = await fetch(`${rig.service.url}/v1/chat/completions`, init)
    await response.body?.getReader().read()
    abort.abort()
    const again = await rig.askStream({}, headers)
    expect([again.content, again.headers.get('x-svc-replayed'), again.text.endsWith('data: [DONE]\n\n')]).toEqual([
      text,
      '1',
      true,
    ])
    expect(rig.hits()).toEqual([before + 1])
  })

  test('of others, or with another body, are others', async () => {
    const [own, other] = [await key(), await key()]
    const before = rig.hits()[0] ?? 0
    const first = await rig.ask({}, headersOf(own, 'shared'))
    const theirs = await rig.ask({}, headersOf(other, 'shared'))
    expect([first.status, theirs.status, theirs.headers.get('x-svc-replayed')]).toEqual([200, 200, null])
    expect(rig.hits()).toEqual([before + 2])
    expect((await rig.ask({}, headersOf(newKey('program'), 'shared'))).status).toBe(401)
    const changed = await rig.ask({ temperature: 0.5 }, headersOf(own, 'shared'))
    if (workers === '1') {
      expect([changed.status, pick(changed.json, 'error', 'code')]).toEqual([422, 'idempotency_key_reused'])
      expect(rig.hits()).toEqual([before + 2])
    } else expect([changed.headers.get('x-svc-replayed'), [200, 422].includes(changed.status)]).toEqual([null, true])
  })
})

const streamed = { model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true }

test('an answer that ended with an error is asked for again', async () => {
  let isDown = true
  await using rig = await startRig([(exchange) => (isDown ? status(500) : good())(exchange)], {
    each: { a: { retries: 0 } },
  })
  const headers = { 'idempotency-key': 'one' }
  expect((await rig.ask({}, headers)).status).toBe(502)
  isDown = false
  const again = await rig.ask({}, headers)
  expect([again.status, again.headers.get('x-svc-replayed')]).toEqual([200, null])
  expect((await rig.ask({}, headers)).headers.get('x-svc-replayed')).toBe('1')
  expect(rig.hits()[0]).toBe(2)
})

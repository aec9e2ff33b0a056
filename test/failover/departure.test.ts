import { describe, expect, test } from 'bun:test'
import { question, rawChat, rawConnection } from '../client.ts'
import type { Hit, Script } from '../fakes/fault-upstream.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
import { status } from '../fakes/faults/status.ts'
import { good } from '../fakes/good.ts'
import { framed, head, streamHead } from '../fakes/replies.ts'
import { startRig, type Row } from '../rig.ts'
import { testOnRows } from './test-on-rows.ts'

/** The promise (failover.md, rule 7). The median of several departures must keep it, since the machine may be busy. */
const abortMsMax = 50
const rounds = 5

const silent: Script = (exchange) => exchange.hang()

const beforeFirstToken: Script = async (exchange) => {
  await exchange.write(streamHead)
  await exchange.hang()
}

const midStream: Script = async (exchange) => {
  await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
  await exchange.hang()
}

const steadyStream: Script = async (exchange) => {
  await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
  for (;;) {
    await exchange.pause(5)
    await exchange.write(framed(firstTokens('more', 1)))
  }
}

const insideBody: Script = async (exchange) => {
  await exchange.write(head(200, { 'content-type': 'application/json', 'content-length': '500' }))
  await exchange.write('{"id":')
  await exchange.hang()
}

/**
 * Sends a request, waits until it has reached the upstream of this number and the client has seen `sign`, and leaves.
 *
 * @returns milliseconds until the request at the upstream was aborted
 */
async function departure(
  rig: Row,
  upstream: number,
  stream: boolean,
  sign: string | undefined,
  leave: 'close' | 'reset',
): Promise<number> {
  const hit: Promise<Hit> | undefined = rig.upstreams[upstream]?.nextHit()
  const client = rawConnection(
    rig.service.port,
    rawChat(JSON.stringify(question({ model: rig.model, ...(stream ? { stream } : {}) }))),
  )
  if (hit === undefined) throw new Error('no such upstream')
  const { left } = await hit
  if (sign !== undefined) await client.until(sign)
  const started = performance.now()
  if (leave === 'reset') client.socket.resetAndDestroy()
  else client.socket.destroy()
  return (await left) - started
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

describe('row 40 › the client leaves', () => {
  const departures: readonly (readonly [
    words: string,
    script: Script,
    stream: boolean,
    sign: string | undefined,
    leave: 'close' | 'reset',
  ])[] = [
    ['before headers, plain', silent, false, undefined, 'close'],
    ['before headers, streaming', silent, true, undefined, 'close'],
    ['before headers, with a reset', silent, true, undefined, 'reset'],
    ['inside a plain answer', insideBody, false, undefined, 'close'],
    ['before the first token', beforeFirstToken, true, undefined, 'close'],
    ['mid-stream, in silence', midStream, true, 'same-2', 'close'],
    ['mid-stream, in silence, with a reset', midStream, true, 'same-2', 'reset'],
    ['mid-stream, while tokens flow', steadyStream, true, 'more-0', 'close'],
  ]
  testOnRows(
    '%s › the attempt is aborted within 50 ms, and no other provider is tried',
    departures.map(([words, script, stream, sign, leave]) => ({
      words,
      scripts: [script, good()],
      stream,
      sign,
      leave,
    })),
    async (rig, { stream, sign, leave }) => {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push(await departure(rig, 0, stream, sign, leave))
      expect(median(times)).toBeLessThan(abortMsMax)
      expect(rig.hits()).toEqual([rounds, 0])
    },
  )

  testOnRows(
    'after failover to the second provider, %s › its attempt is aborted within 50 ms',
    [
      { words: 'before headers', scripts: [status(400), silent, good()], stream: false, sign: undefined },
      { words: 'mid-stream', scripts: [status(400), midStream, good()], stream: true, sign: 'same-2' },
    ],
    async (rig, { stream, sign }) => {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push(await departure(rig, 1, stream, sign, 'close'))
      expect(median(times)).toBeLessThan(abortMsMax)
      expect(rig.hits()).toEqual([rounds, rounds, 0])
    },
  )

  test('behind heartbeats › the request at the upstream is aborted within 50 ms', async () => {
    await using rig = await startRig([silent, good()], { environment: { SVC_HEARTBEAT_MS: '30' } })
    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push(await departure(rig, 0, true, ': keep-alive', 'close'))
    expect(median(times)).toBeLessThan(abortMsMax)
    expect(rig.hits()).toEqual([rounds, 0])
  })

  test('while a cut stream is being resumed › the request at the resuming provider is aborted', async () => {
    const lost: Script = async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
      await exchange.pause(20)
      exchange.reset()
    }
    const repeatsAndStops: Script = async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('same', 2))]))
      await exchange.hang()
    }
    await using rig = await startRig([lost, repeatsAndStops, good()])
    const times: number[] = []
    for (let round = 0; round < 3; round++) times.push(await departure(rig, 1, true, 'same-2', 'close'))
    expect(median(times)).toBeLessThan(abortMsMax)
    expect(rig.hits()).toEqual([3, 3, 0])
  })

  test('between two attempts at the same provider › no other is made', async () => {
    await using rig = await startRig([status(500), good()], { every: { retries: 5 } })
    const arrived = rig.upstreams[0]?.nextHit()
    const client = rawConnection(rig.service.port, rawChat(JSON.stringify(question())))
    await arrived
    client.socket.destroy()
    await Bun.sleep(700)
    const [first = 0, second] = rig.hits()
    expect(first).toBeLessThanOrEqual(2)
    expect(second).toBe(0)
  })

  test('is no failure: the provider stays in use, and the log has 499', async () => {
    await using rig = await startRig([silent, good()])
    for (let round = 0; round < 8; round++) await departure(rig, 0, true, undefined, 'close')
    rig.upstreams[0]?.use(good({ name: 'a' }))
    expect((await rig.ask()).headers.get('x-svc-provider')).toBe('a')
    await rig.service.stop()
    expect(rig.service.logs.filter((line) => line['status'] === 499).length).toBe(8)
  })

  test('a client that leaves while it sends its request costs no upstream call', async () => {
    await using rig = await startRig([good()])
    const body = JSON.stringify(question())
    const client = rawConnection(rig.service.port, rawChat(body, { 'content-length': String(body.length + 10) }))
    await Bun.sleep(20)
    client.socket.destroy()
    await Bun.sleep(20)
    expect((await rig.ask()).status).toBe(200)
    expect(rig.hits()).toEqual([1])
  })
})

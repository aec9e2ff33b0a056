import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/ports.ts'
import { bodyLoad, rateLoad, streamLoad, type LoadTarget } from './load.ts'
import { chooseCores } from './machine.ts'
import { startProgram, waitUntilListening, type RunningProgram } from './processes.ts'
import { heldRequestBody, readHoldUs } from './upstream-protocol.ts'

/** Runs the client processes against the mock upstream itself. */
const isLinux = process.platform === 'linux' && Bun.which('taskset') !== null
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-test-'))
const core = isLinux ? chooseCores().load : 0
let upstream: RunningProgram | undefined
let target: LoadTarget = { name: 'direct', port: 0, headers: {} }

beforeAll(async () => {
  if (!isLinux) return
  target = { ...target, port: freePort() }
  upstream = startProgram(
    {
      name: 'upstream',
      command: [process.execPath, join(import.meta.dir, 'upstream.ts'), String(target.port)],
      core,
      directory,
    },
    () => {},
  )
  await waitUntilListening(upstream, target.port)
})

afterAll(async () => {
  await upstream?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const bodies = { connections: 20, bodyBytes: 150_000, holdUs: 100_000, secondsMax: 10 }

describe.skipIf(!isLinux)('the client of large bodies', () => {
  test('gets all answers after the delay', async () => {
    const outcome = await bodyLoad(target, bodies, core)
    expect(outcome).toMatchObject({ answered: 20, refused: 0, failed: 0, unfinished: 0 })
    expect(outcome.elapsedUs).toBeGreaterThan(bodies.holdUs)
  })

  test('counts refused requests', async () => {
    using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no', { status: 503 }) })
    expect(await bodyLoad({ ...target, port: server.port ?? 0 }, bodies, core)).toMatchObject({
      answered: 0,
      refused: 20,
    })
  })

  test('counts refused connections', async () => {
    expect(await bodyLoad({ ...target, port: freePort() }, bodies, core)).toMatchObject({ failed: 20 })
  })

  test('ends at its time limit', async () => {
    expect(await bodyLoad(target, { ...bodies, holdUs: 60_000_000, secondsMax: 0.3 }, core)).toMatchObject({
      answered: 0,
      unfinished: 20,
    })
  })
})

describe.skipIf(!isLinux)('the client of streams', () => {
  test('begins no stream after its time limit, and counts none as failed', async () => {
    const outcome = await streamLoad(
      target,
      { connections: 3, chunks: 5, paceUs: 1000, streamsPerConnection: 1e6, secondsMax: 0.05 },
      core,
    )
    expect(outcome.failed).toBe(0)
    expect(outcome.complete).toBeGreaterThanOrEqual(3)
    expect(outcome.contents).toBe(outcome.complete * 5)
  })
})

describe.skipIf(!isLinux)('the window of the client of streams', () => {
  const streams = { connections: 3, chunks: 60, paceUs: 5000, streamsPerConnection: 1, spacingUs: 1618 }

  test('counts chunks and CPU time while all streams are open', async () => {
    const window = { settleUs: 50_000, lengthUs: 150_000 }
    const outcome = await streamLoad(target, { ...streams, window, pid: process.pid }, core)
    expect(outcome.window?.contents).toBeGreaterThan(0)
    expect(outcome.window?.contents).toBeLessThan(outcome.contents)
    expect(outcome.window?.reads).toBeLessThan(outcome.reads)
    expect(outcome.window?.cpu?.totalUs).toBeGreaterThanOrEqual(0)
  })

  test('gives no figures when a stream ended in it', async () => {
    const window = { settleUs: 50_000, lengthUs: 10_000_000 }
    expect((await streamLoad(target, { ...streams, window }, core)).window).toBeUndefined()
  })
})

describe.skipIf(!isLinux)('the client at a fixed rate', () => {
  const rate = { perSecond: 500, settleUs: 100_000, lengthUs: 400_000, inFlightMax: 20 }

  test('sends each request of its schedule once', async () => {
    const outcome = await rateLoad(target, { ...rate, inFlightMax: 200, pid: process.pid }, core)
    expect(outcome).toMatchObject({ scheduled: 200, failed: 0, unanswered: 0 })
    // A machine that stalls past the end of the schedule leaves some unsent.
    expect(outcome.answered + outcome.unsent).toBe(200)
    expect(outcome.answered).toBeGreaterThan(0)
    expect(outcome.window.cpu?.totalUs).toBeGreaterThanOrEqual(0)
    expect(outcome.p99Us).toBeGreaterThanOrEqual(outcome.p50Us)
  })

  test('goes on sending without answers, up to its maximum in flight', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let requests = 0
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch() {
        requests++
        await promise
        return new Response('late')
      },
    })
    const outcome = await rateLoad({ ...target, port: server.port ?? 0 }, rate, core)
    resolve()
    expect(requests).toBe(20)
    expect(outcome).toMatchObject({ scheduled: 200, answered: 0, unsent: 200, unanswered: 0 })
    expect(outcome.p50Us).toBeGreaterThan(1_000_000)
  })

  test('fails for an answer that is not 200', async () => {
    using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no', { status: 503 }) })
    await expect(rateLoad({ ...target, port: server.port ?? 0 }, rate, core)).rejects.toThrow('failed')
  })
})

describe('heldRequestBody', () => {
  test('has the requested length and delay', () => {
    const body = heldRequestBody(150_000, 3_000_000)
    expect(Math.abs(body.length - 150_000)).toBeLessThan(200)
    expect(readHoldUs(body)).toBe(3_000_000)
  })
})

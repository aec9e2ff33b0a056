import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../testing.ts'
import { ownHolder } from './holder.ts'
import { batchOf, queryFile, usedRequest } from './testing.ts'
import type { UseBatch } from './use-batch.ts'
import { UseRecorder, type UseRecorderOptions } from './use-recorder.ts'
import { useStore, type UseStore, type WriteResult } from './use-store.ts'
import { startUseThread, type UseThread } from './use-thread-link.ts'

/** Threads that are killed; more by the environment, for a longer run. */
const kills = Math.ceil(Number(process.env['SVC_TEST_KILLS'] ?? 9) / 3)

let place: ReturnType<typeof temporaryFolder>
let rowsPath: string
beforeEach(() => {
  place = temporaryFolder()
  rowsPath = join(place.folder, 'requests.db')
})
afterEach(() => place.remove())

const total = (column: string) => queryFile(place.path, `SELECT sum(${column}) AS sum FROM usage_day`)[0]?.['sum']

const outcomesOfThreads = ['works', 'fails', 'dies before', 'dies after', 'unknown before', 'unknown after'] as const
type Outcome = (typeof outcomesOfThreads)[number]

/** A thread under control of a test: it works, fails, dies or does not know, before or after it has written. */
function scriptedThreads(outcomes: readonly Outcome[]) {
  const store: UseStore = useStore({ path: place.path, rowsPath, zone: 'UTC' })
  const waiting = [...outcomes]
  let starts = 0

  function start(): UseThread {
    let listener: ((result: WriteResult) => void) | undefined
    let end: (() => void) | undefined
    starts += 1
    async function perform(batches: readonly UseBatch[]): Promise<void> {
      const outcome = waiting.shift() ?? 'works'
      if (outcome === 'fails') return listener?.({ sumsProblem: 'it is away' })
      if (outcome === 'dies before') return end?.()
      if (outcome === 'unknown before') return listener?.({ sumsProblem: 'no answer', isUnknown: true })
      const result = await store.write(batches)
      if (outcome === 'unknown after') return listener?.({ sumsProblem: 'no answer', isUnknown: true })
      if (outcome === 'works') listener?.(result)
      else end?.()
    }
    return {
      write: (batches) => void perform(structuredClone(batches)),
      setZone: store.setZone,
      close: async () => store.close(),
      onReady: queueMicrotask,
      onResult: (next) => (listener = next),
      onEnd: (next) => (end = next),
    }
  }

  return {
    start,
    get starts() {
      return starts
    },
  }
}

function recorderOf(start: () => UseThread, more: Partial<UseRecorderOptions> = {}) {
  const troubles: (string | undefined)[] = []
  let lost = 0
  const recorder: UseRecorder = new UseRecorder({
    start,
    onTrouble: (problem) => troubles.push(problem),
    onLost: (batches) => (lost += batches),
    gatherMs: 5,
    retryMs: 1,
    ...more,
  })
  return { recorder, troubles, lost: () => lost }
}

describe('requests of this process', () => {
  test('are gathered, and written together', async () => {
    const { recorder, troubles } = recorderOf(scriptedThreads([]).start)
    for (let index = 0; index < 1_203; index += 1) recorder.add(usedRequest())
    expect(await recorder.flush(5_000)).toBe(true)
    expect([total('requests'), troubles]).toEqual([1_203, []])
    await recorder.close()
  })

  test('are written at the end', async () => {
    const { recorder, lost } = recorderOf(scriptedThreads([]).start, { gatherMs: 100_000 })
    recorder.add(usedRequest())
    await recorder.close()
    expect([total('requests'), lost()]).toEqual([1, 0])
  })
})

describe('a database that is away', () => {
  test('loses nothing that fits into memory', async () => {
    const { recorder, troubles } = recorderOf(scriptedThreads(['works', 'fails', 'fails', 'works']).start)
    for (let index = 0; index < 30; index += 1) {
      recorder.add(usedRequest())
      await Bun.sleep(1)
    }
    await recorder.flush(5_000)
    expect([total('requests'), recorder.rowsDropped]).toEqual([30, 0])
    expect(troubles).toEqual(['it is away', undefined])
    await recorder.close()
    expect(queryFile(rowsPath, 'SELECT count(*) AS n FROM request')).toEqual([{ n: 30 }])
  })

  test('beyond that, costs rows, which are counted, and no sums', async () => {
    const threads = scriptedThreads(Array.from({ length: 9 }, () => 'fails' as const))
    const { recorder } = recorderOf(threads.start, { waitingBytesMax: 2_000 })
    for (let number = 1; number <= 60; number += 1) {
      recorder.addBatch(batchOf(number, [usedRequest(), usedRequest()], number % 2 === 0 ? 'even' : 'odd'))
      await Bun.sleep(1)
    }
    await recorder.flush(10_000)
    expect(total('requests')).toBe(120)
    expect(recorder.rowsDropped).toBeGreaterThan(0)
    expect(queryFile(rowsPath, 'SELECT count(*) AS n FROM request')).toEqual([{ n: 120 - recorder.rowsDropped }])
    await recorder.close()
  }, 20_000)
})

describe('a thread that dies', () => {
  test('is replaced, and each request counts once', async () => {
    const outcomes = ['works', 'dies before', 'works', 'dies after', 'fails', 'dies after', 'dies before'] as const
    const threads = scriptedThreads(outcomes)
    const { recorder, troubles } = recorderOf(threads.start)
    for (let index = 0; index < 40; index += 1) {
      recorder.add(usedRequest())
      await Bun.sleep(2)
    }
    await recorder.flush(10_000)
    expect([total('requests'), threads.starts]).toEqual([40, 5])
    expect(troubles).toContain('the thread that writes the use has ended; another one starts')
    await recorder.close()
  }, 20_000)

  test('with rows that are given up meanwhile, counts each request once, too', async () => {
    // Times between tries double: the failures of a round take less than a second.
    for (let round = 0; round < 15; round += 1) {
      const kinds = outcomesOfThreads
      const outcomes = Array.from({ length: 9 }, () => kinds[Math.floor(Math.random() * kinds.length)] ?? 'works')
      const { recorder } = recorderOf(scriptedThreads(outcomes).start, { waitingBytesMax: 3_000 })
      for (let number = 1; number <= 30; number += 1) {
        recorder.addBatch(batchOf(number, [usedRequest()], `${round} ${number % 3}`))
        await Bun.sleep(0)
      }
      await recorder.flush(20_000)
      expect([outcomes, total('requests')]).toEqual([outcomes, (round + 1) * 30])
      await recorder.close()
    }
  }, 60_000)
})

describe('holds', () => {
  const heldOf = (nanoUsd: number) => ({ line: 0, model: 'm', provider: 'a', attempts: 1, nanoUsd })
  const stored = () => queryFile(place.path, 'SELECT source, cost FROM hold ORDER BY cost')

  test('are written without requests, and with the requests that end them', async () => {
    let costs = [heldOf(500)]
    const { recorder } = recorderOf(scriptedThreads([]).start, { holds: () => ({ holder: 'x', costs }) })
    recorder.wake()
    await recorder.flush(5_000)
    expect(stored()).toMatchObject([{ cost: 500 }])
    costs = []
    recorder.add(usedRequest())
    await recorder.flush(5_000)
    expect([stored(), total('requests')]).toEqual([[], 1])
    await recorder.close()
  })

  test('end with the costs that end them, however the thread and the rows fare', async () => {
    for (let round = 0; round < 5; round += 1) {
      const kinds = outcomesOfThreads
      const outcomes = Array.from({ length: 6 }, () => kinds[Math.floor(Math.random() * kinds.length)] ?? 'works')
      const { recorder } = recorderOf(scriptedThreads(outcomes).start, { waitingBytesMax: 3_000 })
      const before = round === 0 ? 0 : Number(total('cost'))
      for (let number = 1; number <= 30; number += 1) {
        const costs = number === 30 ? [] : [heldOf(1_000)]
        const holds = { holder: 'x', costs }
        recorder.addBatch({ ...batchOf(number, [usedRequest()], `${round}`), holds })
        // At each moment the sums and the holds together are what was recorded, and what is held.
        if (number % 10 === 0 && round % 2 === 0) {
          await recorder.flush(20_000)
          const held = stored().reduce((sum, { cost }) => sum + Number(cost), 0)
          expect([outcomes, Number(total('cost')) - before + held]).toEqual([outcomes, 1_000 * (number + costs.length)])
        }
        await Bun.sleep(0)
      }
      await recorder.flush(20_000)
      expect([outcomes, Number(total('cost')) - before, stored()]).toEqual([outcomes, 30_000, []])
      await recorder.close()
    }
  }, 60_000)
})

describe('the real thread', () => {
  const start = () => startUseThread({ place: { kind: 'file', path: place.path }, zone: 'UTC' })

  test('writes, and ends by a message', async () => {
    const { recorder, troubles } = recorderOf(start)
    for (let index = 0; index < 700; index += 1) recorder.add(usedRequest())
    await recorder.close()
    expect([total('requests'), troubles]).toEqual([700, []])
    expect(queryFile(rowsPath, 'SELECT count(*) AS n FROM request')).toEqual([{ n: 700 }])
  })

  test(
    'that is killed under load loses nothing, and counts nothing twice',
    async () => {
      const threads: Worker[] = []
      const { Worker: RealWorker } = globalThis
      globalThis.Worker = class extends RealWorker {
        constructor(...given: ConstructorParameters<typeof RealWorker>) {
          super(...given)
          threads.push(this)
        }
      }
      let held = 0
      const costs = () => (held === 0 ? [] : [{ line: 0, model: 'm', provider: 'a', attempts: 1, nanoUsd: 1_000 }])
      try {
        const { recorder } = recorderOf(start, { holds: () => ({ holder: ownHolder(), costs: costs() }) })
        let count = 0
        for (let round = 1; round <= kills; round += 1) {
          const before = threads.length
          for (let request = 0; request < 40; request += 1) {
            held = request % 2
            recorder.add(usedRequest())
            count += 1
            if (request % 8 === 0) await Bun.sleep(2)
            // The thread does not know this message.
            if (request === round % 40) threads.at(-1)?.postMessage(null)
          }
          held = 0
          recorder.wake()
          await recorder.flush(20_000)
          expect([total('requests'), threads.length]).toEqual([count, before + 1])
        }
        expect(queryFile(place.path, 'SELECT count(*) AS n FROM hold')).toEqual([{ n: 0 }])
        expect(queryFile(place.path, 'SELECT sum(unsettled) AS n FROM usage_day')).toEqual([{ n: 0 }])
        await recorder.close()
      } finally {
        globalThis.Worker = RealWorker
      }
    },
    20_000 + 2_000 * kills,
  )

  test('standing still does not delay who records', async () => {
    const { recorder } = recorderOf(start)
    recorder.add(usedRequest())
    await recorder.flush(5_000)
    const other = new Database(place.path)
    other.run('BEGIN IMMEDIATE')
    let longest = 0
    for (const end = performance.now() + 600; performance.now() < end;) {
      const before = performance.now()
      recorder.add(usedRequest())
      longest = Math.max(longest, performance.now() - before)
      await Bun.sleep(1)
    }
    expect(longest).toBeLessThan(50)
    other.run('COMMIT')
    other.close()
    await recorder.flush(10_000)
    expect(Number(total('requests'))).toBeGreaterThan(50)
    await recorder.close()
  }, 20_000)
})

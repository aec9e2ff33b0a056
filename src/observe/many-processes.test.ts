import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { sentBy, personOfRecord } from '../people/testing.ts'
import type { PrimaryObserverHandlers, Remote, WorkerObserverHandlers } from './observer-messages.ts'
import { primaryObserver, type ObservedWorker } from './primary-observer.ts'
import type { RequestRecord } from './record.ts'
import { parseMetrics } from './testing.ts'
import { workerObserver, type WorkerObserver } from './worker-observer.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const noon = Date.UTC(2026, 0, 1, 12)

function recordOf(more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    time: noon,
    id: 'r',
    model: 'm',
    api: 'chat',
    stream: false,
    status: 200,
    provider: 'groq',
    trail: [{ name: 'groq', status: 200, ms: 12 }],
    totalMs: 20,
    ...personOfRecord(more),
    ...more,
  }
}

/** Waits for all pending microtasks. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await Promise.resolve()
}

/** Messages to a process: cloned, in order, and delayed while the process is stopped. */
function wire() {
  const held: (() => void)[] = []
  let isStopped = false
  return {
    async pass<Argument, Answer>(
      argument: Argument,
      run: (argument: Argument) => Answer | Promise<Answer>,
    ): Promise<Answer> {
      const message = structuredClone(argument)
      if (isStopped) await new Promise<void>((resolve) => held.push(resolve))
      return structuredClone(await run(message))
    },
    stop() {
      isStopped = true
    },
    go() {
      isStopped = false
      for (const release of held.splice(0)) release()
    },
  }
}

interface Process {
  readonly observer: WorkerObserver
  readonly observed: ObservedWorker
  /** Messages to the worker. */
  readonly toWorker: ReturnType<typeof wire>
  /** Messages to the primary. */
  readonly toPrimary: ReturnType<typeof wire>
  /** Records sent by the worker, as JSON. */
  readonly sent: string[]
  readonly counts: number[]
  readonly follows: boolean[]
}

function service({ logLinesDropped = 0 } = {}) {
  const primary = primaryObserver({
    version: '1',
    now: () => noon,
    logLinesDropped: () => logLinesDropped,
    breakers: () => [{ provider: 'groq', model: '', isOpen: true }],
  })

  function worker(lost: () => number = () => 0): Process {
    const [toWorker, toPrimary] = [wire(), wire()]
    const sent: string[] = []
    const counts: number[] = []
    const follows: boolean[] = []
    const asked =
      <Argument, Answer>(
        find: (handlers: PrimaryObserverHandlers) => (argument: Argument) => Answer | Promise<Answer>,
      ) =>
      (argument: Argument) =>
        toPrimary.pass(argument, find(observed.handlers))
    const remotePrimary: Remote<PrimaryObserverHandlers> = {
      takeRecords: (batch) => {
        if (batch.records !== '[]') sent.push(batch.records)
        return toPrimary.pass(batch, observed.handlers.takeRecords)
      },
      metricsText: asked((handlers) => handlers.metricsText),
      rememberedRequests: asked((handlers) => handlers.rememberedRequests),
      findRequest: asked((handlers) => handlers.findRequest),
      allRunning: asked((handlers) => handlers.allRunning),
      recentCallers: asked((handlers) => handlers.recentCallers),
      attemptsAt: asked((handlers) => handlers.attemptsAt),
      followRequests: (isFollowing) => {
        follows.push(isFollowing)
        return toPrimary.pass(isFollowing, observed.handlers.followRequests)
      },
    }
    const remoteWorker: Remote<WorkerObserverHandlers> = {
      runningRequests: () => toWorker.pass(undefined, observer.handlers.runningRequests),
      flushRecords: () => toWorker.pass(undefined, observer.handlers.flushRecords),
      requestsRecorded: (count) => {
        counts.push(count)
        return toWorker.pass(count, observer.handlers.requestsRecorded)
      },
    }
    const observer = workerObserver({ primary: remotePrimary, logLinesDropped: lost })
    const observed = primary.joined(remoteWorker)
    return { observer, observed, toWorker, toPrimary, sent, counts, follows }
  }

  return { primary, worker }
}

async function valueOf({ observer }: Process, name: string): Promise<number> {
  const text = await observer.metricsText()
  return [...(parseMetrics(text).get(name)?.samples ?? [])].reduce((sum, { value }) => sum + value, 0)
}

async function idsAt({ observer }: Process): Promise<readonly string[]> {
  return (await observer.remembered('all users', 0)).requests.map(({ id }) => id)
}

describe('a service of several processes', () => {
  test('answers each worker with all requests recorded before the question', async () => {
    const { worker } = service()
    const [one, two] = [worker(), worker()]
    one.observer.record(recordOf({ id: 'one' }))
    two.observer.record(recordOf({ id: 'two' }))
    expect(await valueOf(one, 'svc_requests_total')).toBe(2)
    expect((await idsAt(two)).toSorted()).toEqual(['one', 'two'])
    expect(await two.observer.find('all users', 'one')).toMatchObject({ id: 'one', status: 200 })
    expect((await one.observer.attempts(['groq', 'unused'])).get('groq')).toMatchObject({ count: 2, ok: 2 })
    expect((await one.observer.attempts(['unused'])).get('unused')).toMatchObject({ count: 0 })
    expect((await one.observer.remembered('all users', 0)).minutes).toMatchObject([{ time: noon, requests: 2 }])
  })

  test('knows the callers of all workers', async () => {
    const { worker } = service()
    const one = worker()
    const two = worker()
    one.observer.record(recordOf(sentBy({ user: 'ann', userId: 'github:1' })))
    two.observer.record(recordOf({ user: 'key:job', line: 7 }))
    expect((await one.observer.callers()).map(({ name, key }) => [name, key?.line])).toContainEqual(['key:job', 7])
    expect((await two.observer.callers()).map(({ person }) => person?.accountId)).toContain('github:1')
  })

  test('knows the requests under way in all workers, the oldest first', async () => {
    const { worker } = service()
    const one = worker()
    const two = worker()
    const running = (time: number) => ({
      time,
      id: `r${time}`,
      api: 'chat',
      model: 'm',
      stream: true,
      trail: [],
    })
    one.observer.trackRunning(() => ({ count: 1, requests: [running(2)] }))
    two.observer.trackRunning(() => ({ count: 301, requests: Array.from({ length: 200 }, () => running(1)) }))
    // The primary asks workers that have sent something.
    await Promise.all([one, two].map(({ observer }) => observer.remembered('all users', 0)))
    const { count, requests } = await one.observer.running()
    expect([count, requests.length, requests[0]?.id]).toEqual([302, 200, 'r1'])
  })

  test('keeps the requests of a worker in order', async () => {
    const { worker } = service()
    const one = worker()
    for (let index = 0; index < 900; index += 1) one.observer.record(recordOf({ id: String(index) }))
    expect(await idsAt(one)).toEqual(Array.from({ length: 900 }, (_, index) => String(index)))
  })

  test('shows a user their own requests of all workers', async () => {
    const { worker } = service()
    const [one, two] = [worker(), worker()]
    one.observer.record(recordOf({ id: 'a', ...sentBy({ user: 'ada' }) }))
    two.observer.record(recordOf({ id: 'b', ...sentBy({ user: 'bob' }) }))
    expect((await two.observer.remembered({ id: 'ada' }, 0)).requests).toMatchObject([{ id: 'a' }])
    expect(await two.observer.find({ id: 'bob' }, 'a')).toBeUndefined()
  })

  test('sends a record after a quarter of a second', async () => {
    const { worker } = service()
    const one = worker()
    await settle()
    one.observer.record(recordOf())
    await settle()
    expect(one.sent).toEqual([])
    jest.advanceTimersByTime(250)
    await settle()
    expect([one.sent.length, jest.getTimerCount()]).toEqual([1, 0])
  })

  test('counts reloads once, ready workers, and replaced workers', async () => {
    const { primary, worker } = service()
    const one = worker()
    one.observer.reloaded('ok')
    primary.reloaded('ok')
    primary.workersReady(2)
    primary.workerRestarted()
    expect(
      await Promise.all(
        ['svc_config_reloads_total', 'svc_workers', 'svc_worker_restarts_total', 'svc_breaker_open'].map((name) =>
          valueOf(one, name),
        ),
      ),
    ).toEqual([1, 2, 1, 1])
  })

  test('adds up streams, lost log lines and memory', async () => {
    const { worker } = service({ logLinesDropped: 1 })
    const [one, two] = [worker(() => 10), worker(() => 100)]
    one.observer.streamsOpen.add(3)
    two.observer.streamsOpen.add(2)
    two.observer.streamsOpen.add(-1)
    expect([await valueOf(one, 'svc_streams_open'), await valueOf(two, 'svc_streams_open')]).toEqual([4, 4])
    expect(await valueOf(one, 'svc_log_lines_dropped_total')).toBe(111)
    const own = process.memoryUsage.rss()
    expect(await valueOf(one, 'process_resident_memory_bytes')).toBeGreaterThan(2.5 * own)
  })
})

describe('a worker that died', () => {
  test('stays counted, but its streams and memory do not', async () => {
    const { worker } = service()
    const [one, two] = [worker(() => 10), worker()]
    one.observer.record(recordOf())
    one.observer.streamsOpen.add(5)
    expect(await valueOf(two, 'svc_streams_open')).toBe(5)
    const before = await valueOf(two, 'process_resident_memory_bytes')
    one.toWorker.stop()
    one.observed.left()
    expect([
      await valueOf(two, 'svc_streams_open'),
      await valueOf(two, 'svc_requests_total'),
      await valueOf(two, 'svc_log_lines_dropped_total'),
    ]).toEqual([0, 1, 10])
    expect(await valueOf(two, 'process_resident_memory_bytes')).toBeLessThan(before * 0.9)
  })

  test('is counted with records read after its end, but without streams', async () => {
    const { worker } = service()
    const [one, two] = [worker(() => 1), worker()]
    one.observer.streamsOpen.add(1)
    await one.observer.flush()
    one.observer.streamsOpen.add(1)
    one.observer.record(recordOf())
    one.observed.left()
    await one.observer.flush()
    expect([
      await valueOf(two, 'svc_requests_total'),
      await valueOf(two, 'svc_log_lines_dropped_total'),
      await valueOf(two, 'svc_streams_open'),
    ]).toEqual([1, 1, 0])
  })

  test('gets no messages', async () => {
    const { worker } = service()
    const [one, two] = [worker(), worker()]
    one.observer.subscribe(() => undefined)
    await settle()
    one.observed.left()
    two.observer.record(recordOf())
    await two.observer.flush()
    expect([jest.getTimerCount(), one.counts]).toEqual([0, []])
  })
})

describe('a worker that starts', () => {
  test('does not delay answers before it can reply', async () => {
    const { primary, worker } = service()
    const one = worker()
    let asked = 0
    const flushRecords = (): Promise<never> => {
      asked += 1
      return new Promise(() => undefined)
    }
    const runningRequests = async () => ({ count: 0, requests: [] })
    primary.joined({ runningRequests, flushRecords, requestsRecorded: async () => undefined })
    expect([await valueOf(one, 'svc_requests_total'), asked]).toEqual([0, 0])
  })

  test('is asked for its records from its first message on', async () => {
    const { worker } = service()
    const [one, two] = [worker(), worker()]
    await settle()
    two.observer.record(recordOf())
    expect(await valueOf(one, 'svc_requests_total')).toBe(1)
  })
})

describe('a worker that is stopped', () => {
  test('delays one answer, for at most a second', async () => {
    const { worker } = service()
    const [one, two] = [worker(), worker()]
    two.observer.record(recordOf({ id: 'late' }))
    for (const direction of [two.toWorker, two.toPrimary]) direction.stop()
    one.observer.record(recordOf({ id: 'early' }))
    const asked = idsAt(one)
    await settle()
    jest.advanceTimersByTime(1_000)
    expect(await asked).toEqual(['early'])
    expect(await idsAt(one)).toEqual(['early'])
    for (const direction of [two.toWorker, two.toPrimary]) direction.go()
    await settle()
    expect((await idsAt(one)).toSorted()).toEqual(['early', 'late'])
  })
})

describe('a primary that is slow', () => {
  test('makes a worker keep ten thousand records and count the lost ones', async () => {
    const { worker } = service()
    const [one, two] = [worker(), worker()]
    one.toPrimary.stop()
    for (let index = 0; index < 500 + 10_000 + 77; index += 1) one.observer.record(recordOf())
    await settle()
    expect(one.sent).toHaveLength(1)
    one.toPrimary.go()
    await settle()
    expect([await valueOf(two, 'svc_requests_total'), await valueOf(two, 'svc_records_dropped_total')]).toEqual([
      10_500, 77,
    ])
  })

  test('is waited for at most five seconds', async () => {
    const { worker } = service()
    const one = worker()
    one.toPrimary.stop()
    const asked = one.observer.metricsText().catch((error: unknown) => error)
    const flushed = one.observer.flush()
    jest.advanceTimersByTime(5_000)
    await flushed
    expect(await asked).toMatchObject({ status: 503, code: 'overloaded', headers: { 'retry-after': '1' } })
  })

  test('that has ended gives an error', async () => {
    const gone = async (): Promise<never> => {
      throw new Error('the other process has ended')
    }
    const observer = workerObserver({
      primary: {
        takeRecords: gone,
        metricsText: gone,
        rememberedRequests: gone,
        findRequest: gone,
        allRunning: gone,
        recentCallers: gone,
        attemptsAt: gone,
        followRequests: gone,
      },
      logLinesDropped: () => 0,
    })
    observer.record(recordOf())
    observer.subscribe(() => undefined)()
    await observer.flush()
    expect(await observer.remembered('all users', 0).catch((error: unknown) => error)).toMatchObject({
      status: 503,
      code: 'overloaded',
    })
  })
})

describe('a listener at a worker', () => {
  test('is called at most four times a second, and then finds at least that many requests', async () => {
    const { worker } = service()
    const [one, two] = [worker(), worker()]
    const counts: number[] = []
    const stop = two.observer.subscribe((count) => counts.push(count))
    await settle()
    for (let index = 0; index < 500; index += 1) one.observer.record(recordOf())
    await settle()
    expect(counts).toEqual([])
    jest.advanceTimersByTime(250)
    await settle()
    expect(counts).toEqual([500])
    expect((await two.observer.remembered('all users', 0)).mark).toBe(500)
    stop()
    await settle()
    one.observer.record(recordOf())
    await one.observer.flush()
    expect(jest.getTimerCount()).toBe(0)
  })

  test('shares one message of the primary with other listeners', async () => {
    const { worker } = service()
    const one = worker()
    let calls = 0
    const stops = Array.from({ length: 10 }, () =>
      one.observer.subscribe(() => {
        calls += 1
      }),
    )
    stops[0]?.()
    await settle()
    one.observer.record(recordOf())
    await one.observer.flush()
    jest.advanceTimersByTime(250)
    await settle()
    expect([one.counts, calls]).toEqual([[1], 9])
    for (const stop of stops) stop()
    expect(one.follows).toEqual([true, false])
  })
})

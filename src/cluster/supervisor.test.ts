import { describe, expect, test } from 'bun:test'
import { StartFailed, supervisor } from './supervisor.ts'
import type { Listening } from './worker-lifecycle.ts'
import type { Worker } from './worker.ts'

interface Actor extends Worker {
  readonly number: number
  readonly slot: number
  listen(): void
  end(code: number): void
}

/** Workers and time, controlled by the test. */
function stage(count: number) {
  const events: string[] = []
  const actors: Actor[] = []
  const sleeps: { readonly ms: number; readonly wake: () => void }[] = []
  let time = 0
  let isUnable = false
  let onStart = (_: Actor): void => undefined

  function actor(slot: number): Actor {
    const number = actors.length,
      listening = Promise.withResolvers<Listening>(),
      exited = Promise.withResolvers<number>(),
      left = Promise.withResolvers<void>()
    listening.promise.catch(() => undefined)
    const made: Actor = {
      number,
      slot,
      pid: 1_000 + number,
      listening: listening.promise,
      exited: exited.promise,
      listen: () => listening.resolve({ port: 80, lines: `from ${number}` }),
      end(code) {
        listening.reject(new Error('ended'))
        left.resolve()
        exited.resolve(code)
      },
      drain(reason) {
        events.push(`${number} drains: ${reason}`)
        return left.promise
      },
      kill() {
        events.push(`${number} is killed`)
        made.end(137)
      },
    }
    actors.push(made)
    onStart(made)
    return made
  }

  const log = (message: string) => void events.push(message)
  const workers = supervisor({
    count,
    start: (slot) => {
      if (isUnable) throw new Error('no such program')
      return actor(slot)
    },
    log: { info: log, warn: log, error: log },
    drainMsMax: 35_000,
    onCount: (listening) => events.push(`${listening} listen`),
    onCrash: () => events.push('crash'),
    now: () => time,
    sleep: (ms) =>
      new Promise((wake) => {
        sleeps.push({ ms, wake })
      }),
  })
  return {
    workers,
    events,
    actors,
    sleeps,
    unable: (is: boolean) => {
      isUnable = is
    },
    pass: (ms: number) => {
      time += ms
    },
    startWith: (then: (actor: Actor) => void) => {
      onStart = then
    },
  }
}

const settle = () =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

async function started(count: number) {
  const here = stage(count)
  here.startWith((actor) => actor.listen())
  await here.workers.start()
  await settle()
  here.events.length = 0
  here.startWith(() => undefined)
  return here
}

describe('supervisor', () => {
  test('starts one worker after the other, and returns the message of the first', async () => {
    const { workers, actors, events } = stage(2)
    const start = workers.start()
    await settle()
    expect(actors.length).toBe(1)
    actors[0]?.listen()
    await settle()
    actors[1]?.listen()
    expect(await start).toEqual({ port: 80, lines: 'from 0' })
    expect(events).toEqual(['1 listen', '2 listen'])
  })

  test('a worker that ends before it listens ends the start, with its exit code', async () => {
    const { workers, actors, events } = stage(2)
    const start = workers.start().catch((error: unknown) => error)
    actors[0]?.listen()
    await settle()
    actors[1]?.end(2)
    const error = await start
    expect(error instanceof StartFailed && error.exitCode).toBe(2)
    expect(events).toContain('0 is killed')
  })

  test('replaces a worker at once, or after 1, 2, 4 … 30 s if it died young', async () => {
    const { actors, sleeps, pass, events } = await started(1)
    pass(10_000)
    actors[0]?.end(137)
    await settle()
    expect([actors.length, sleeps.length]).toEqual([2, 0])
    for (const [position, ms] of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      actors.at(-1)?.end(1)
      await settle()
      expect(sleeps.at(-1)?.ms).toBe(ms)
      sleeps.at(-1)?.wake()
      await settle()
      expect(actors.length).toBe(position + 3)
    }
    pass(10_000)
    actors.at(-1)?.end(1)
    await settle()
    expect(actors.length).toBe(10)
    expect(events.filter((event) => event === 'crash').length).toBe(1)
  })

  test('starts a worker that waits for its back-off when asked to retry now', async () => {
    const { workers, actors, sleeps } = await started(1)
    actors[0]?.end(137)
    await settle()
    expect([actors.length, sleeps.length]).toEqual([1, 1])
    workers.retryNow()
    await settle()
    expect(actors.length).toBe(2)
    actors[1]?.end(2)
    await settle()
    expect([actors.length, sleeps.at(-1)?.ms]).toEqual([2, 2_000])
  })

  test('counts a crash only for a worker that has listened and ended unexpectedly', async () => {
    const { actors, events, pass, sleeps } = await started(1)
    pass(10_000)
    actors[0]?.end(0)
    await settle()
    actors[1]?.end(2)
    await settle()
    sleeps.at(-1)?.wake()
    await settle()
    actors[2]?.listen()
    await settle()
    actors[2]?.end(139)
    await settle()
    expect(events).toEqual([
      '0 listen',
      'a worker ended as requested; another replaces it',
      'a worker did not start; trying again',
      '1 listen',
      '0 listen',
      'crash',
      'a worker crashed; another replaces it',
    ])
  })

  test('a rolling restart replaces each worker, and none drains before its successor listens', async () => {
    const { workers, actors, events } = await started(2)
    const roll = workers.roll()
    await settle()
    expect([actors.length, events]).toEqual([3, ['rolling restart']])
    actors[2]?.listen()
    await settle()
    expect(events.slice(1)).toEqual(['3 listen', '0 drains: restart'])
    actors[0]?.end(0)
    await settle()
    expect(actors.length).toBe(4)
    actors[3]?.listen()
    await settle()
    actors[1]?.end(0)
    await roll
    expect(events.slice(-2)).toEqual(['2 listen', 'rolling restart done'])
    expect(actors.map(({ slot }) => slot)).toEqual([0, 1, 0, 1])
  })

  test('a new worker that does not start ends the rolling restart, and the old ones stay', async () => {
    const { workers, actors, events } = await started(2)
    const roll = workers.roll()
    await settle()
    actors[2]?.end(2)
    await roll
    expect(events).toEqual([
      'rolling restart',
      'the new worker did not start; the rolling restart stops here, and the running workers stay',
    ])
    expect(actors.length).toBe(3)
  })

  test('a new worker that ends as soon as it listens leaves the old one in its slot', async () => {
    const { workers, actors, events, pass, startWith } = await started(1)
    startWith((actor) => {
      actor.listen()
      actor.end(139)
    })
    await workers.roll()
    expect(events.filter((event) => event.includes('drains'))).toEqual([])
    startWith(() => undefined)
    pass(10_000)
    actors[0]?.end(139)
    await settle()
    expect(actors.length).toBe(3)
  })

  test('a worker that ends while its successor starts is replaced by that one only', async () => {
    const { workers, actors, events, sleeps } = await started(1)
    const roll = workers.roll()
    await settle()
    actors[0]?.end(139)
    await settle()
    actors[1]?.listen()
    await roll
    expect([actors.length, sleeps.length, events.at(-1)]).toEqual([2, 0, 'rolling restart done'])
  })

  test('a worker that ends while its successor does not start is replaced all the same', async () => {
    const { workers, actors, sleeps } = await started(1)
    const roll = workers.roll()
    await settle()
    actors[0]?.end(139)
    await settle()
    actors[1]?.end(2)
    await roll
    sleeps.at(-1)?.wake()
    await settle()
    expect(actors.length).toBe(3)
  })

  test('a program that cannot be started ends the rolling restart, and the old ones stay', async () => {
    const { workers, actors, events, unable } = await started(2)
    unable(true)
    await workers.roll()
    expect(events.at(-1)).toBe(
      'the new worker did not start; the rolling restart stops here, and the running workers stay',
    )
    unable(false)
    const roll = workers.roll()
    await settle()
    expect(actors.length).toBe(3)
    actors[2]?.end(2)
    await roll
  })

  test('a worker that ends while no process can be started is replaced later', async () => {
    const { actors, sleeps, pass, unable } = await started(1)
    pass(10_000)
    unable(true)
    actors[0]?.end(137)
    await settle()
    unable(false)
    expect(sleeps.map(({ ms }) => ms)).toEqual([1_000])
    sleeps[0]?.wake()
    await settle()
    expect(actors.length).toBe(2)
  })

  test('a worker that does not drain in time is killed, and the rolling restart goes on', async () => {
    const { workers, actors, events, sleeps } = await started(2)
    const roll = workers.roll()
    await settle()
    actors[2]?.listen()
    await settle()
    expect(sleeps.map(({ ms }) => ms)).toEqual([35_000])
    sleeps[0]?.wake()
    await settle()
    expect(events).toContain('0 is killed')
    expect(actors.length).toBe(4)
    actors[3]?.end(2)
    await roll
  })

  test('a rolling restart during the start waits until all have started', async () => {
    const { workers, actors } = stage(2)
    const start = workers.start()
    void workers.roll()
    await settle()
    expect(actors.length).toBe(1)
    actors[0]?.listen()
    await settle()
    actors[1]?.listen()
    await start
    await settle()
    expect(actors.map(({ slot }) => slot)).toEqual([0, 1, 0])
  })

  test('a stop during the start starts no more workers', async () => {
    const { workers, actors } = stage(2)
    const start = workers.start()
    const stop = workers.stop('SIGTERM')
    actors[0]?.listen()
    await start
    actors[0]?.end(0)
    await stop
    expect(actors.length).toBe(1)
  })

  test('a rolling restart during another one follows it, once', async () => {
    const { workers, actors, events, startWith } = await started(1)
    startWith((actor) => queueMicrotask(() => actor.listen()))
    const roll = workers.roll()
    await settle()
    void workers.roll()
    void workers.roll()
    while (actors.length < 3) {
      await settle()
      for (const event of events.splice(0)) if (event.includes('drains')) actors[Number(event.split(' ')[0])]?.end(0)
    }
    for (let turn = 0; turn < 5; turn++) {
      await settle()
      for (const event of events.splice(0)) if (event.includes('drains')) actors[Number(event.split(' ')[0])]?.end(0)
    }
    await roll
    expect(actors.length).toBe(3)
  })

  test('a stop drains all workers, replaces none, and kills those that have not ended in time', async () => {
    const { workers, actors, events, sleeps } = await started(2)
    const stop = workers.stop('SIGTERM')
    actors[0]?.end(0)
    await settle()
    expect(sleeps.map(({ ms }) => ms)).toEqual([35_000])
    sleeps[0]?.wake()
    await stop
    expect(events).toEqual(['0 drains: SIGTERM', '1 drains: SIGTERM', '1 listen', '1 is killed', '0 listen'])
    expect(actors.length).toBe(2)
  })
})

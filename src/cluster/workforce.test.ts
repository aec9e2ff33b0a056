import { describe, expect, test } from 'bun:test'
import type { Listening } from './worker-life.ts'
import type { Worker } from './worker.ts'
import { StartFailed, workforce } from './workforce.ts'

interface Actor extends Worker {
  readonly number: number
  readonly place: number
  listen(): void
  end(code: number): void
}

/** Workers that do as they are told by the test; time passes only when it says so. */
function stage(count: number) {
  const events: string[] = []
  const actors: Actor[] = []
  const sleeps: { readonly ms: number; readonly wake: () => void }[] = []
  let time = 0
  let isUnable = false
  let onHire = (_: Actor): void => undefined

  function actor(place: number): Actor {
    const number = actors.length,
      listening = Promise.withResolvers<Listening>(),
      exited = Promise.withResolvers<number>(),
      left = Promise.withResolvers<void>()
    listening.promise.catch(() => undefined)
    const made: Actor = {
      number,
      place,
      pid: 1_000 + number,
      listening: listening.promise,
      exited: exited.promise,
      listen: () => listening.resolve({ port: 80, lines: `from ${number}` }),
      end(code) {
        listening.reject(new Error('ended'))
        left.resolve()
        exited.resolve(code)
      },
      leave(reason) {
        events.push(`${number} leaves: ${reason}`)
        return left.promise
      },
      kill() {
        events.push(`${number} is killed`)
        made.end(137)
      },
    }
    actors.push(made)
    onHire(made)
    return made
  }

  const log = (message: string) => void events.push(message)
  const force = workforce({
    count,
    start: (place) => {
      if (isUnable) throw new Error('no such program')
      return actor(place)
    },
    log: { info: log, warn: log, error: log },
    leaveMs: 35_000,
    onCount: (listening) => events.push(`${listening} listen`),
    onLoss: () => events.push('loss'),
    now: () => time,
    sleep: (ms) =>
      new Promise((wake) => {
        sleeps.push({ ms, wake })
      }),
  })
  return {
    force,
    events,
    actors,
    sleeps,
    unable: (is: boolean) => {
      isUnable = is
    },
    pass: (ms: number) => {
      time += ms
    },
    hireWith: (then: (actor: Actor) => void) => {
      onHire = then
    },
  }
}

const settle = () =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

async function started(count: number) {
  const here = stage(count)
  here.hireWith((actor) => actor.listen())
  await here.force.start()
  await settle()
  here.events.length = 0
  here.hireWith(() => undefined)
  return here
}

describe('workforce', () => {
  test('starts one after the other, and says what the first said', async () => {
    const { force, actors, events } = stage(2)
    const start = force.start()
    await settle()
    expect(actors.length).toBe(1)
    actors[0]?.listen()
    await settle()
    actors[1]?.listen()
    expect(await start).toEqual({ port: 80, lines: 'from 0' })
    expect(events).toEqual(['1 listen', '2 listen'])
  })

  test('one that ends before it listens ends the start, with its exit code', async () => {
    const { force, actors, events } = stage(2)
    const start = force.start().catch((error: unknown) => error)
    actors[0]?.listen()
    await settle()
    actors[1]?.end(2)
    const error = await start
    expect(error instanceof StartFailed && error.exitCode).toBe(2)
    expect(events).toContain('0 is killed')
  })

  test('replaces at once who has lived long, and who ends early after 1, 2, 4 … 30 s', async () => {
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
    expect(events.filter((event) => event === 'loss').length).toBe(1)
  })

  test('one that could not start is tried at once when the cause may be over', async () => {
    const { force, actors, sleeps } = await started(1)
    actors[0]?.end(137)
    await settle()
    expect([actors.length, sleeps.length]).toEqual([1, 1])
    force.wake()
    await settle()
    expect(actors.length).toBe(2)
    actors[1]?.end(2)
    await settle()
    expect([actors.length, sleeps.at(-1)?.ms]).toEqual([2, 2_000])
  })

  test('only one that has listened and was not told to end is a loss', async () => {
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
      'a worker was told to end; another takes its place',
      'a worker did not start; it is tried again',
      '1 listen',
      '0 listen',
      'loss',
      'a worker has ended; another takes its place',
    ])
  })

  test('a rolling restart puts a new one in each place, and nobody leaves before the new one listens', async () => {
    const { force, actors, events } = await started(2)
    const roll = force.roll()
    await settle()
    expect([actors.length, events]).toEqual([3, ['rolling restart']])
    actors[2]?.listen()
    await settle()
    expect(events.slice(1)).toEqual(['3 listen', '0 leaves: restart'])
    actors[0]?.end(0)
    await settle()
    expect(actors.length).toBe(4)
    actors[3]?.listen()
    await settle()
    actors[1]?.end(0)
    await roll
    expect(events.slice(-2)).toEqual(['2 listen', 'rolling restart done'])
    expect(actors.map(({ place }) => place)).toEqual([0, 1, 0, 1])
  })

  test('a new one that does not start ends the rolling restart, and the old ones stay', async () => {
    const { force, actors, events } = await started(2)
    const roll = force.roll()
    await settle()
    actors[2]?.end(2)
    await roll
    expect(events).toEqual([
      'rolling restart',
      'the new worker did not start; the rolling restart ends here, and those at work stay',
    ])
    expect(actors.length).toBe(3)
  })

  test('a new one that ends as soon as it listens leaves the place to the old one, which is replaced when it ends', async () => {
    const { force, actors, events, pass, hireWith } = await started(1)
    hireWith((actor) => {
      actor.listen()
      actor.end(139)
    })
    await force.roll()
    expect(events.filter((event) => event.includes('leaves'))).toEqual([])
    hireWith(() => undefined)
    pass(10_000)
    actors[0]?.end(139)
    await settle()
    expect(actors.length).toBe(3)
  })

  test('an old one that ends while its successor starts is replaced by it, and by nobody else', async () => {
    const { force, actors, events, sleeps } = await started(1)
    const roll = force.roll()
    await settle()
    actors[0]?.end(139)
    await settle()
    actors[1]?.listen()
    await roll
    expect([actors.length, sleeps.length, events.at(-1)]).toEqual([2, 0, 'rolling restart done'])
  })

  test('an old one that ends while its successor does not start is replaced all the same', async () => {
    const { force, actors, sleeps } = await started(1)
    const roll = force.roll()
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
    const { force, actors, events, unable } = await started(2)
    unable(true)
    await force.roll()
    expect(events.at(-1)).toBe('the new worker did not start; the rolling restart ends here, and those at work stay')
    unable(false)
    const roll = force.roll()
    await settle()
    expect(actors.length).toBe(3)
    actors[2]?.end(2)
    await roll
  })

  test('who ends while none can be started is replaced when one can', async () => {
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

  test('an old one that does not leave is ended, and the rolling restart goes on', async () => {
    const { force, actors, events, sleeps } = await started(2)
    const roll = force.roll()
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

  test('a rolling restart that is asked for while they start waits until all have', async () => {
    const { force, actors } = stage(2)
    const start = force.start()
    void force.roll()
    await settle()
    expect(actors.length).toBe(1)
    actors[0]?.listen()
    await settle()
    actors[1]?.listen()
    await start
    await settle()
    expect(actors.map(({ place }) => place)).toEqual([0, 1, 0])
  })

  test('told to stop while they start, it starts no more', async () => {
    const { force, actors } = stage(2)
    const start = force.start()
    const stop = force.stop('SIGTERM')
    actors[0]?.listen()
    await start
    actors[0]?.end(0)
    await stop
    expect(actors.length).toBe(1)
  })

  test('asked again while it rolls, it rolls once more', async () => {
    const { force, actors, events, hireWith } = await started(1)
    hireWith((actor) => queueMicrotask(() => actor.listen()))
    const roll = force.roll()
    await settle()
    void force.roll()
    void force.roll()
    while (actors.length < 3) {
      await settle()
      for (const event of events.splice(0)) if (event.includes('leaves')) actors[Number(event.split(' ')[0])]?.end(0)
    }
    for (let turn = 0; turn < 5; turn++) {
      await settle()
      for (const event of events.splice(0)) if (event.includes('leaves')) actors[Number(event.split(' ')[0])]?.end(0)
    }
    await roll
    expect(actors.length).toBe(3)
  })

  test('a stop has all leave and replaces nobody; who has not ended in time is ended', async () => {
    const { force, actors, events, sleeps } = await started(2)
    const stop = force.stop('SIGTERM')
    actors[0]?.end(0)
    await settle()
    expect(sleeps.map(({ ms }) => ms)).toEqual([35_000])
    sleeps[0]?.wake()
    await stop
    expect(events).toEqual(['0 leaves: SIGTERM', '1 leaves: SIGTERM', '1 listen', '1 is killed', '0 listen'])
    expect(actors.length).toBe(2)
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { Channel } from './channel.ts'
import { followShared, SharedFiles, type FollowerHandlers, type SharedFileHandlers } from './shared-files.ts'

/** A worker that holds the text of the file. Text that contains its `refuses` is not sound to it. */
interface Worker {
  inForce: string
  refuses: string
  /** Awaited by each load. */
  during: () => Promise<void>
  readonly events: string[]
  reload(): Promise<boolean>
  /** Follows the file no longer. */
  leave(): void
  end(): void
}

const timing = { restMs: 2, pollMs: 10 }
let folder: string, path: string, files: SharedFiles<Channel<FollowerHandlers>>
const outcomes: string[] = [],
  differing: unknown[] = [],
  silent: unknown[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
  path = join(folder, 'file')
  writeFileSync(path, 'first')
  outcomes.length = 0
  differing.length = 0
  files = new SharedFiles({
    timing,
    onOutcome: (file, outcome) => outcomes.push(`${file === path} ${outcome}`),
    onDifference: (worker) => differing.push(worker),
  })
})
afterEach(() => {
  files.close()
  rmSync(folder, { recursive: true })
})

async function startWorker(): Promise<Worker> {
  const toWorker: Channel<FollowerHandlers> = new Channel(
    (message) => queueMicrotask(() => toPrimary.receive(structuredClone(message))),
    handlersOf(() => toWorker),
    () => undefined,
  )
  const together = followShared({
    call: (name, argument) => toPrimary.call(name, argument),
    notify: (name, argument) => toPrimary.notify(name, argument),
  })
  const toPrimary: Channel<SharedFileHandlers> = new Channel(
    (message) => queueMicrotask(() => toWorker.receive(structuredClone(message))),
    together.handlers,
    () => undefined,
  )
  const worker: Worker = {
    inForce: 'first',
    refuses: '-',
    during: async () => undefined,
    events: [],
    reload: () => watch.reload(),
    leave: () => watch.close(),
    end() {
      files.forget(toWorker)
      toWorker.close()
    },
  }
  const watch = together.follow({
    path,
    async load(text = 'none') {
      await worker.during()
      if (text === 'none') throw new Error('gone')
      if (text.includes(worker.refuses))
        throw new ConfigError([{ file: path, field: '', found: text, allowed: 'anything else' }])
      return text
    },
    apply(text, isReporter) {
      worker.inForce = text
      worker.events.push(isReporter ? 'applied and logged' : 'applied')
    },
    report: (error, isReporter) =>
      void worker.events.push(
        `reported${isReporter ? ' and logged' : ''}: ${error instanceof Error ? `${error.name} ${error.message}` : ''}`,
      ),
  })
  await watch.text
  return worker
}

/** Made at the first message: the channel does not exist before. */
function handlersOf(worker: () => Channel<FollowerHandlers>) {
  let made: SharedFileHandlers | undefined
  const handlers = () => (made ??= files.handlersOf(worker()))
  return {
    follow: (asked: string) => handlers().follow(asked),
    unfollow: (asked: string) => handlers().unfollow(asked),
    reload: (asked: string) => handlers().reload(asked),
  }
}

describe('files that workers follow together', () => {
  test('a change is loaded by all workers, and one worker reports it', async () => {
    const workers = [await startWorker(), await startWorker(), await startWorker()]
    writeFileSync(path, 'second')
    while (workers.some(({ inForce }) => inForce !== 'second')) await Bun.sleep(1)
    expect(workers.map(({ events }) => events)).toEqual([['applied and logged'], ['applied'], ['applied']])
    expect(outcomes).toEqual(['true ok'])
  })

  test('a faulty change is loaded by no worker, and one reports it', async () => {
    const workers = [await startWorker(), await startWorker()]
    for (const worker of workers) worker.refuses = 'second'
    writeFileSync(path, 'second')
    while (workers.some(({ events }) => events.length === 0)) await Bun.sleep(1)
    expect(workers.map(({ inForce, events }) => [inForce, events])).toEqual([
      ['first', [`reported and logged: ConfigError ${path}: found second, allowed: anything else`]],
      ['first', [`reported: ConfigError ${path}: found second, allowed: anything else`]],
    ])
    while (outcomes.length === 0) await Bun.sleep(1)
    expect([outcomes, differing.length]).toEqual([['true failed'], 0])
  })

  test('a worker that cannot use what another one uses is named', async () => {
    const workers = [await startWorker(), await startWorker()]
    if (workers[1] !== undefined) workers[1].refuses = 'second'
    writeFileSync(path, 'second')
    while (outcomes.length === 0) await Bun.sleep(1)
    expect([workers.map(({ inForce }) => inForce), outcomes, differing.length]).toEqual([
      ['second', 'first'],
      ['true ok'],
      1,
    ])
    expect(await Promise.all(workers.map((worker) => worker.reload()))).toEqual([false, false])
  })

  test('a file that cannot be read is reported with its fault', async () => {
    const worker = await startWorker()
    writeFileSync(path, new Uint8Array([0xe4]))
    while (worker.events.length === 0) await Bun.sleep(1)
    expect(worker.events[0]).toContain('bytes that are not UTF-8')
  })

  test('a reload that one worker asks for happens in all, changed or not, before it resolves', async () => {
    const workers = [await startWorker(), await startWorker()]
    await workers[1]?.reload()
    expect(workers.map(({ events }) => events)).toEqual([['applied and logged'], ['applied']])
    await files.reloadAll()
    expect(workers.map(({ events }) => events.length)).toEqual([2, 2])
  })

  test('a file that changes while a worker loads it is the same to all in the end', async () => {
    const workers = [await startWorker(), await startWorker()]
    let changes = 0
    const [first, second] = workers
    if (second !== undefined)
      second.during = async () => {
        if (changes++ === 0) writeFileSync(path, 'third')
      }
    await first?.reload()
    while (workers.some(({ inForce }) => inForce !== 'third')) await Bun.sleep(1)
  })

  test('a change that was not noticed yet is loaded by all workers when a worker starts', async () => {
    files.close()
    files = new SharedFiles({ timing: { restMs: 60_000, pollMs: 60_000 } })
    const worker = await startWorker()
    writeFileSync(path, 'second')
    await startWorker()
    expect(worker.inForce).toBe('second')
  })

  test('a worker that ends while it loads is not waited for', async () => {
    const workers = [await startWorker(), await startWorker()]
    const stuck = Promise.withResolvers<void>(),
      reached = Promise.withResolvers<void>()
    if (workers[1] !== undefined)
      workers[1].during = () => {
        reached.resolve()
        return stuck.promise
      }
    const done = workers[0]?.reload()
    await reached.promise
    workers[1]?.end()
    await done
    expect(workers[0]?.events).toEqual(['applied and logged'])
    stuck.resolve()
  })

  test('a worker that hangs is named, so that it is ended, if another one has taken the file over', async () => {
    files.close()
    silent.length = 0
    files = new SharedFiles({ timing, answerMs: 50, onSilent: (worker) => silent.push(worker) })
    const workers = [await startWorker(), await startWorker()]
    const stuck = Promise.withResolvers<void>()
    if (workers[1] !== undefined) workers[1].during = () => stuck.promise
    expect(await workers[0]?.reload()).toBe(true)
    expect(workers[0]?.events).toEqual(['applied and logged'])
    expect(silent.length).toBe(1)
    if (workers[0] !== undefined) workers[0].during = () => stuck.promise
    expect(await workers[0]?.reload()).toBe(false)
    expect(silent.length).toBe(1)
    stuck.resolve()
  })

  test('a worker that no longer follows the file is not asked', async () => {
    const workers = [await startWorker(), await startWorker()]
    workers[1]?.leave()
    await workers[0]?.reload()
    expect([workers[0]?.events, workers[1]?.events]).toEqual([['applied and logged'], []])
  })

  test('a worker cannot start without a file that others still use; it can if the file never existed', async () => {
    await startWorker()
    rmSync(path)
    expect(await startWorker().catch((error: unknown) => String(error))).toBe(
      `Error: ${path} is gone, and its last content stays active: put it back, or start the whole service again`,
    )
    writeFileSync(path, 'again')
    await startWorker()
    const other = join(folder, 'other')
    path = other
    await startWorker()
    await startWorker()
  })

  test('a file that is gone is reported to all', async () => {
    const workers = [await startWorker(), await startWorker()]
    rmSync(path)
    while (workers.some(({ events }) => events.length === 0)) await Bun.sleep(1)
    expect(workers.map(({ inForce, events }) => [inForce, events.length])).toEqual([
      ['first', 1],
      ['first', 1],
    ])
    writeFileSync(path, 'second')
    while (workers.some(({ inForce }) => inForce !== 'second')) await Bun.sleep(1)
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { channel, type Channel } from './channel.ts'
import { fileCoordinator, type FileCoordinator } from './file-coordinator.ts'
import type { FileCoordinatorAnswers, FileFollowerAnswers } from './file-messages.ts'
import { followTogether } from './follow-together.ts'

/** A worker that holds the text of the file. Text that contains its `refuses` is not sound to it. */
interface Worker {
  inForce: string
  refuses: string
  /** Awaited by each load. */
  during: () => Promise<void>
  readonly events: string[]
  readonly discarded: string[]
  reload(): Promise<void>
  /** Follows the file no longer. */
  leave(): void
  end(): void
}

const timing = { restMs: 2, pollMs: 10 }
let folder: string, path: string, coordinator: FileCoordinator
const outcomes: string[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
  path = join(folder, 'file')
  writeFileSync(path, 'first')
  outcomes.length = 0
  coordinator = fileCoordinator({ timing, onOutcome: (file, outcome) => outcomes.push(`${file === path} ${outcome}`) })
})
afterEach(() => {
  coordinator.close()
  rmSync(folder, { recursive: true })
})

async function startWorker(): Promise<Worker> {
  const toWorker: Channel<FileFollowerAnswers> = channel(
    (message) => queueMicrotask(() => toPrimary.take(structuredClone(message))),
    coordinatorOf(() => toWorker),
    () => undefined,
  )
  const together = followTogether({ ask: (name, argument) => toPrimary.ask(name, argument) })
  const toPrimary: Channel<FileCoordinatorAnswers> = channel(
    (message) => queueMicrotask(() => toWorker.take(structuredClone(message))),
    together.answers,
    () => undefined,
  )
  const worker: Worker = {
    inForce: 'first',
    refuses: '-',
    during: async () => undefined,
    events: [],
    discarded: [],
    reload: () => watch.reload(),
    leave: () => watch.close(),
    end() {
      coordinator.forget(toWorker)
      toWorker.close()
    },
  }
  const watch = together.follow({
    path,
    async load() {
      const text = await Bun.file(path).text()
      await worker.during()
      if (text.includes(worker.refuses))
        throw new ConfigError([{ file: path, field: '', found: text, allowed: 'anything else' }])
      return text
    },
    apply(text, isSpeaker) {
      worker.inForce = text
      worker.events.push(isSpeaker ? 'applied aloud' : 'applied')
    },
    report: (error, isSpeaker) =>
      void worker.events.push(
        `${isSpeaker ? 'reported aloud' : 'reported'}: ${error instanceof Error ? `${error.name} ${error.message}` : ''}`,
      ),
    discard: (text) => void worker.discarded.push(text),
  })
  await watch.ready
  return worker
}

/** Made when it is first asked: the channel is not there before. */
function coordinatorOf(worker: () => Channel<FileFollowerAnswers>) {
  let made: FileCoordinatorAnswers | undefined
  const answers = () => (made ??= coordinator.answersTo(worker()))
  return { follow: (asked: string) => answers().follow(asked), reload: (asked: string) => answers().reload(asked) }
}

describe('files that workers follow together', () => {
  test('a change is taken over by all, and one tells of it', async () => {
    const workers = [await startWorker(), await startWorker(), await startWorker()]
    writeFileSync(path, 'second')
    while (workers.some(({ inForce }) => inForce !== 'second')) await Bun.sleep(1)
    expect(workers.map(({ events }) => events)).toEqual([['applied aloud'], ['applied'], ['applied']])
    expect(outcomes).toEqual(['true ok'])
  })

  test('what one cannot take over nobody does, and all know why', async () => {
    const workers = [await startWorker(), await startWorker()]
    if (workers[1] !== undefined) workers[1].refuses = 'second'
    writeFileSync(path, 'second')
    while (workers.some(({ events }) => events.length === 0)) await Bun.sleep(1)
    expect(workers.map(({ inForce, events, discarded }) => [inForce, events, discarded])).toEqual([
      ['first', [`reported aloud: ConfigError ${path}: found second, allowed: anything else`], ['second']],
      ['first', [`reported: ConfigError ${path}: found second, allowed: anything else`], []],
    ])
  })

  test('a worker’s wish to reload is granted to all, changed or not, and over when it resolves', async () => {
    const workers = [await startWorker(), await startWorker()]
    await workers[1]?.reload()
    expect(workers.map(({ events }) => events)).toEqual([['applied aloud'], ['applied']])
    await coordinator.reloadAll()
    expect(workers.map(({ events }) => events.length)).toEqual([2, 2])
  })

  test('a file that changes between two workers’ looks is loaded again until all have the same', async () => {
    const workers = [await startWorker(), await startWorker()]
    let changes = 0
    const [first, second] = workers
    if (second !== undefined)
      second.during = async () => {
        if (changes++ === 0) writeFileSync(path, 'third')
      }
    await first?.reload()
    while (workers.some(({ inForce }) => inForce !== 'third')) await Bun.sleep(1)
    expect(workers.map(({ inForce }) => inForce)).toEqual(['third', 'third'])
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
    expect(workers[0]?.events).toEqual(['applied aloud'])
    stuck.resolve()
  })

  test('a worker that stands still has a file taken over by none, and does not keep the next from being taken over', async () => {
    coordinator.close()
    coordinator = fileCoordinator({ timing, answerMs: 500 })
    const workers = [await startWorker(), await startWorker()]
    const stuck = Promise.withResolvers<void>()
    if (workers[1] !== undefined) workers[1].during = () => stuck.promise
    await workers[0]?.reload()
    expect(workers[0]?.events).toEqual(['reported aloud: Error a worker does not answer'])
    workers[1]?.end()
    await workers[0]?.reload()
    expect(workers[0]?.events.at(-1)).toBe('applied aloud')
    stuck.resolve()
  })

  test('a worker that is about to end, and follows the file no longer, has no say', async () => {
    const workers = [await startWorker(), await startWorker()]
    workers[1]?.leave()
    await workers[0]?.reload()
    expect([workers[0]?.events, workers[1]?.events]).toEqual([['applied aloud'], []])
  })

  test('who begins while a file is gone that others go on with is refused; with one that was never there it begins', async () => {
    await startWorker()
    rmSync(path)
    expect(await startWorker().catch((error: unknown) => String(error))).toBe(
      `Error: ${path} is gone, and what it held stays in force: put it back, or start the whole service again`,
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

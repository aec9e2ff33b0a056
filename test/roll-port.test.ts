import { describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { socketOrder } from '../src/cluster/socket-order.ts'

interface Sharer {
  readonly pid: number
  readonly port: number
  /** Resolves with its next message. */
  next(): Promise<unknown>
  send(message: unknown): void
  kill(): Promise<number>
}

async function startSharer(port: number): Promise<Sharer> {
  const said: unknown[] = [],
    waiting: ((message: unknown) => void)[] = []
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'fakes/port-sharer.ts'), String(port)], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    ipc(message: unknown) {
      const take = waiting.shift()
      if (take === undefined) said.push(message)
      else take(message)
    },
  })
  const next = (): Promise<unknown> =>
    said.length > 0 ? Promise.resolve(said.shift()) : new Promise((resolve) => waiting.push(resolve))
  const first = await next()
  if (!Array.isArray(first)) throw new Error(String(first))
  return {
    pid: child.pid,
    port: Number(first[0]),
    next,
    send: (message) => child.send(message),
    kill: () => {
      child.kill('SIGKILL')
      return child.exited
    },
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Sends a request on a connection. @returns id of the process that answered @throws when it is closed instead */
function ask(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = ''
    const end = (error?: Error): void => reject(error ?? new Error('closed without an answer'))
    socket.once('error', end).once('end', end)
    socket.on('data', function take(bytes: Buffer) {
      text += bytes.toString('latin1')
      const [, pid] = /\r\n\r\n(\d+)$/.exec(text) ?? []
      if (pid === undefined) return
      socket.off('data', take).off('error', end).off('end', end)
      resolve(Number(pid))
    })
    socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  })
}

/** Sends requests from 12 clients, each on a new connection, until `stop`. */
function askers(port: number): {
  readonly stop: () => Promise<{ readonly answered: number; readonly failures: readonly string[] }>
} {
  const failures: string[] = []
  let isOver = false,
    answered = 0
  async function askOn(): Promise<void> {
    while (!isOver) {
      try {
        const socket = await open(port)
        await ask(socket)
        socket.resetAndDestroy() // Thousands of connections in TIME_WAIT would use up the ports.
        answered++
      } catch (error) {
        failures.push(String(error))
      }
    }
  }
  const all = Promise.all(Array.from({ length: 12 }, askOn))
  return {
    async stop() {
      isOver = true
      await all
      return { answered, failures }
    },
  }
}

/** Processes that share a port, in the order of their start. */
interface Group extends AsyncDisposable {
  readonly port: number
  join(): Promise<Sharer>
  /** Resolves when new connections go to others; `left` resolves when the process has left. */
  leave(sharer: Sharer): Promise<{ readonly left: Promise<void> }>
  kill(sharer: Sharer): Promise<void>
}

async function startGroup(): Promise<Group & { readonly first: Sharer }> {
  const first = await startSharer(0)
  const { port } = first
  const order = socketOrder<Sharer>(),
    all = [first]
  order.add(first)
  return {
    first,
    port,
    async join() {
      const sharer = await startSharer(port)
      order.add(sharer)
      all.push(sharer)
      return sharer
    },
    async leave(sharer) {
      sharer.send(order.positionOf(sharer))
      expect(await sharer.next()).toBe('leaving')
      return {
        left: (async () => {
          expect(await sharer.next()).toBe('left')
          order.remove(sharer)
        })(),
      }
    },
    async kill(sharer) {
      await sharer.kill()
      order.remove(sharer)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((sharer) => sharer.kill()))
    },
  }
}

/** Ids of the processes that answer the next 20 connections. */
async function answering(port: number): Promise<ReadonlySet<number>> {
  return new Set(await Promise.all(Array.from({ length: 20 }, async () => ask(await open(port)))))
}

const whyNot = process.platform === 'linux' ? '' : ' (only Linux has it)'

describe.skipIf(whyNot !== '')(`a port that processes share${whyNot}`, () => {
  test('is left under load without a lost request, on early and on kept connections too', async () => {
    await using group = await startGroup()
    const { first, port } = group
    const idle = await open(port),
      silent = await open(port)
    expect(await ask(idle)).toBe(first.pid)
    const load = askers(port)
    const fresh = await group.join()
    const { left } = await group.leave(first)
    expect(await answering(port)).toEqual(new Set([fresh.pid]))
    await left
    fresh.send('spread')
    expect(await answering(port)).toEqual(new Set([fresh.pid]))
    expect(await ask(idle)).toBe(first.pid)
    expect(await ask(silent)).toBe(first.pid)
    const { answered, failures } = await load.stop()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(100)
  }, 20_000)

  test('is left by the right one after another was killed', async () => {
    await using group = await startGroup()
    const second = await group.join(),
      third = await group.join()
    await group.kill(group.first)
    const load = askers(group.port)
    const { left } = await group.leave(third)
    expect(await answering(group.port)).toEqual(new Set([second.pid]))
    await left
    expect((await load.stop()).failures).toEqual([])
  }, 20_000)

  test('loses no connection to a wrong position either: a client tries again a second later', async () => {
    await using group = await startGroup()
    await group.join()
    const load = askers(group.port)
    group.first.send({ index: 1, count: 2 })
    expect(await group.first.next()).toBe('leaving')
    expect(await group.first.next()).toBe('left')
    expect((await load.stop()).failures).toEqual([])
  }, 20_000)

  test('has its newcomers spread over all again when one has died while it left and another has come', async () => {
    await using group = await startGroup()
    const second = await group.join()
    await group.leave(group.first)
    await group.kill(group.first)
    const third = await group.join()
    expect(await answering(group.port)).toEqual(new Set([second.pid, third.pid]))
  }, 20_000)
})

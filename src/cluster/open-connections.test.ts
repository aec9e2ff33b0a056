import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { openConnections } from './open-connections.ts'

const get = 'GET / HTTP/1.1\r\nhost: test\r\n\r\n'

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1', () => socket.write(get))
  await once(socket, 'data')
  return socket
}

test.skipIf(process.platform !== 'linux')(
  'idle connections are closed, but not those with a pending answer, a new request or recent traffic',
  async () => {
    await using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      development: false,
      fetch: () => new Response('hello'),
    })
    const port = server.port ?? 0
    const open = openConnections(port)
    if (open === undefined) throw new Error('connections are unknown here')
    const idle = await connected(port),
      busy = await connected(port),
      asking = await connected(port)
    expect(open.count()).toBe(3)
    expect([open.endIdle(new Set(), 60_000), open.count()]).toEqual([3, 3])
    // Until the kernel has acknowledged the answers, which it delays by up to 40 ms.
    await Bun.sleep(50)
    const ended = once(idle, 'end'),
      answered = once(asking, 'data')
    asking.write(get)
    // The request lies in the kernel: the server has not read it yet.
    expect(open.endIdle(new Set([busy.localPort ?? 0]), 0)).toBe(2)
    expect(open.count()).toBe(2)
    await ended
    expect(String(await answered)).toContain('hello')
    for (const socket of [idle, busy, asking]) socket.destroy()
  },
)

test.skipIf(process.platform !== 'linux')('listening stops, and open connections are served', async () => {
  await using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    fetch: () => new Response('hello'),
  })
  const port = server.port ?? 0,
    open = openConnections(port)
  const socket = await connected(port)
  expect(await open?.stopListening()).toBe(true)
  const answered = once(socket, 'data')
  socket.write(get)
  expect(String(await answered)).toContain('hello')
  await expect(connected(port)).rejects.toThrow()
  socket.destroy()
})

test('there is nothing for a port without a listener', () => {
  expect(openConnections(1)).toBeUndefined()
})

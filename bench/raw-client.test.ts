import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { rawClient } from './raw-client.ts'

/** Serves each write of `writes` to each request, a moment apart, and closes afterwards if asked to. */
function upstreamOf(writes: readonly string[], closes = false) {
  return Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => void socket.setNoDelay(true),
      async data(socket) {
        for (const text of writes) {
          socket.write(text)
          await new Promise(setImmediate)
        }
        if (closes) socket.end()
      },
    },
  })
}

function ask(send: ReturnType<typeof rawClient>): Promise<readonly string[]> {
  const seen: string[] = []
  return new Promise((resolve) => {
    send(Buffer.from('{}'), {
      onHead: ({ status, contentType, length }) => seen.push(`${status} ${contentType} ${length ?? 'chunked'}`),
      onBytes: (bytes) => seen.push(Buffer.from(bytes).toString()),
      onEnd: () => resolve([...seen, 'end']),
      onCut: () => resolve([...seen, 'cut']),
    })
  })
}

const chunked = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const counted = 'HTTP/1.1 429 No\r\ncontent-length: 3\r\ncontent-type: text/plain\r\n\r\nabc'

describe('rawClient', () => {
  test.each([
    { name: 'a counted body', writes: [counted], expected: ['429 text/plain 3', 'abc', 'end'] },
    { name: 'an empty body', writes: ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'], expected: ['200  0', 'end'] },
    {
      name: 'chunks',
      writes: [`${chunked}3\r\nabc\r\n`, '2\r\nde\r\n0\r\n\r\n'],
      expected: ['200 text/event-stream chunked', 'abc', 'de', 'end'],
    },
  ])('reads $name', async ({ writes, expected }) => {
    using upstream = upstreamOf(writes)
    expect(await ask(rawClient(upstream.port))).toEqual(expected)
  })

  test('reads an answer byte by byte', async () => {
    using upstream = upstreamOf([...`${chunked}3\r\nabc\r\n0\r\n\r\n`])
    expect((await ask(rawClient(upstream.port))).slice(1).join('')).toBe('abcend')
  })

  test('reports an answer that is cut', async () => {
    using upstream = upstreamOf([`${chunked}3\r\nab`], true)
    expect((await ask(rawClient(upstream.port))).at(-1)).toBe('cut')
  })

  test('keeps its connection for the next request', async () => {
    let connections = 0
    using upstream = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: () => void connections++, data: (socket) => void socket.write(counted) },
    })
    const send = rawClient(upstream.port)
    await ask(send)
    await ask(send)
    expect(connections).toBe(1)
  })
})

describe('the relay', () => {
  const relayTo = async (port: number, work: (address: string) => Promise<void>): Promise<void> => {
    const server = join(import.meta.dir, 'proxies/serve-raw-server.ts')
    const own = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    own.stop(true)
    const child = Bun.spawn([process.execPath, server, String(own.port), String(port)], { stdout: 'pipe' })
    try {
      await child.stdout.getReader().read()
      await work(`http://127.0.0.1:${own.port}/v1/chat/completions`)
    } finally {
      child.kill()
      await child.exited
    }
  }
  const post = { method: 'POST', body: '{}' }

  test('passes on whole answers and streams', async () => {
    using upstream = upstreamOf([counted])
    await relayTo(upstream.port, async (address) => {
      const answer = await fetch(address, post)
      expect([answer.status, await answer.text()]).toEqual([429, 'abc'])
    })
    using streaming = upstreamOf([`${chunked}3\r\nabc\r\n`, '2\r\nde\r\n0\r\n\r\n'])
    await relayTo(streaming.port, async (address) => {
      const answer = await fetch(address, post)
      expect(answer.headers.get('content-type')).toBe('text/event-stream')
      expect(await answer.text()).toBe('abcde')
    })
  })

  test('passes on a cut stream as cut', async () => {
    using upstream = upstreamOf([`${chunked}3\r\nabc\r\n`], true)
    await relayTo(upstream.port, async (address) => {
      await expect(fetch(address, post).then((answer) => answer.text())).rejects.toThrow()
    })
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { connection, joinedBytesMax } from './connection.ts'
import type { ConnectionOwner, Exchange } from './connection.ts'
import type { UpstreamResponse } from './transport.ts'
import { eventLoopTurns, type Turns } from './turns.ts'

/** A socket that takes as many bytes of each write as it is told, then none until it is drained. */
function slowSocket(takes: readonly number[]) {
  const sent: Buffer[] = []
  let writes = 0
  return {
    sent,
    write(data: string | ArrayBufferView | ArrayBufferLike, offset = 0, length = 0): number {
      if (!Buffer.isBuffer(data) && !(data instanceof Uint8Array)) throw new Error('Only bytes are written')
      const taken = Math.min(length, takes[writes++] ?? length)
      sent.push(Buffer.from(data.subarray(offset, offset + taken)))
      return taken
    },
    pause() {},
    resume() {},
    terminate() {},
  }
}

const owner: ConnectionOwner = { released() {}, closed() {}, stale() {} }

function exchangeOf(body: readonly Uint8Array[], resolve: (response: UpstreamResponse) => void = () => {}): Exchange {
  return {
    method: 'POST',
    connectMs: 1,
    bodyBytesMax: 1_000,
    body,
    head: Buffer.from('POST / HTTP/1.1\r\n'),
    signal: new AbortController().signal,
    resolve,
    reject() {},
  }
}

const sizes = fc.array(fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: joinedBytesMax })), { maxLength: 5 })

describe('a connection', () => {
  test('sends everything in order, however little the socket takes at a time', () => {
    fc.assert(
      fc.property(sizes, fc.array(fc.nat({ max: 30_000 }), { maxLength: 20 }), (lengths, takes) => {
        const body = lengths.map((length, index) => Buffer.alloc(length, 97 + index))
        const socket = slowSocket(takes)
        const carrying = connection(socket, owner, Buffer.alloc(joinedBytesMax), eventLoopTurns())
        carrying.carry(exchangeOf(body), false)
        for (let round = 0; round <= takes.length; round++) carrying.drained()
        const expected = Buffer.concat([
          Buffer.from(`POST / HTTP/1.1\r\ncontent-length: ${Buffer.concat(body).length}\r\n\r\n`),
          ...body,
        ])
        expect(Buffer.concat(socket.sent).equals(expected)).toBe(true)
      }),
    )
  })

  test('keeps what it could not send when others use the shared bytes', () => {
    const scratch = Buffer.alloc(joinedBytesMax)
    const socket = slowSocket([5])
    const carrying = connection(socket, owner, scratch, eventLoopTurns())
    carrying.carry(exchangeOf([Buffer.from('hello')]), false)
    scratch.fill(0)
    carrying.drained()
    expect(Buffer.concat(socket.sent).toString()).toBe('POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello')
  })

  test('lets go of what it sent when the answer begins', () => {
    const carrying = connection(slowSocket([]), owner, Buffer.alloc(joinedBytesMax), eventLoopTurns())
    const exchange = exchangeOf([Buffer.from('hello')])
    carrying.carry(exchange, false)
    expect(exchange.body).toHaveLength(1)
    carrying.received(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'))
    expect(exchange.body).toHaveLength(0)
  })

  test('lets others have their turn while it sends a lot', async () => {
    const socket = slowSocket([])
    connection(socket, owner, Buffer.alloc(joinedBytesMax), eventLoopTurns()).carry(
      exchangeOf([Buffer.alloc(5_000_000)]),
      false,
    )
    const sentAtOnce = Buffer.concat(socket.sent).length
    expect(sentAtOnce).toBeLessThan(1_200_000)
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(Buffer.concat(socket.sent).length).toBeGreaterThan(5_000_000)
  })

  test('waits for its turn with an answer that is read as a whole when that is larger than 1 MiB, and not before', async () => {
    const answers: UpstreamResponse[] = []
    const granted: (() => void)[] = []
    const turns: Turns = {
      take(_, grant) {
        granted.push(grant)
        return false
      },
    }
    const carrying = connection(slowSocket([]), owner, Buffer.alloc(joinedBytesMax), turns)
    const mebibyte = 1024 * 1024
    carrying.carry({ ...exchangeOf([], (response) => answers.push(response)), bodyBytesMax: 10 * mebibyte }, false)
    carrying.received(Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${2 * mebibyte}\r\n\r\n`))
    let held = 0
    const whole = answers[0]?.body.readAll((bytes) => (held += bytes) > 0)
    carrying.received(Buffer.alloc(mebibyte))
    expect([held, granted.length]).toEqual([mebibyte, 0])
    carrying.received(Buffer.alloc(mebibyte))
    expect([held, granted.length]).toEqual([mebibyte, 1])
    for (let grant = granted.shift(); grant !== undefined; grant = granted.shift()) grant()
    expect((await whole)?.length).toBe(2 * mebibyte)
  })
})

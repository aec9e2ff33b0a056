import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { connection, joinedBytesMax, type ConnectionOwner, type OutgoingRequest } from './connection.ts'
import { readScheduler, type ReadScheduler } from './read-scheduler.ts'
import type { UpstreamResponse } from './transport.ts'

/** A socket that accepts `takes[n]` bytes of the nth write, and everything after those. */
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

function outgoingRequest(
  body: readonly Uint8Array[],
  resolve: (response: UpstreamResponse) => void = () => {},
): OutgoingRequest {
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
  test('sends everything in order, even if the socket takes little at a time', () => {
    fc.assert(
      fc.property(sizes, fc.array(fc.nat({ max: 30_000 }), { maxLength: 20 }), (lengths, takes) => {
        const body = lengths.map((length, index) => Buffer.alloc(length, 97 + index))
        const socket = slowSocket(takes)
        const subject = connection(socket, owner, Buffer.alloc(joinedBytesMax), readScheduler())
        subject.start(outgoingRequest(body), false)
        for (let round = 0; round <= takes.length; round++) subject.drained()
        const expected = Buffer.concat([
          Buffer.from(`POST / HTTP/1.1\r\ncontent-length: ${Buffer.concat(body).length}\r\n\r\n`),
          ...body,
        ])
        expect(Buffer.concat(socket.sent).equals(expected)).toBe(true)
      }),
    )
  })

  test('keeps unsent bytes when other connections overwrite the shared buffer', () => {
    const scratch = Buffer.alloc(joinedBytesMax)
    const socket = slowSocket([5])
    const subject = connection(socket, owner, scratch, readScheduler())
    subject.start(outgoingRequest([Buffer.from('hello')]), false)
    scratch.fill(0)
    subject.drained()
    expect(Buffer.concat(socket.sent).toString()).toBe('POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello')
  })

  test('releases the request body when the response begins', () => {
    const subject = connection(slowSocket([]), owner, Buffer.alloc(joinedBytesMax), readScheduler())
    const outgoing = outgoingRequest([Buffer.from('hello')])
    subject.start(outgoing, false)
    expect(outgoing.body).toHaveLength(1)
    subject.received(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'))
    expect(outgoing.body).toHaveLength(0)
  })

  test('leaves turns of the event loop to others while it sends a large body', async () => {
    const socket = slowSocket([])
    connection(socket, owner, Buffer.alloc(joinedBytesMax), readScheduler()).start(
      outgoingRequest([Buffer.alloc(5_000_000)]),
      false,
    )
    const sentAtOnce = Buffer.concat(socket.sent).length
    expect(sentAtOnce).toBeLessThan(1_200_000)
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(Buffer.concat(socket.sent).length).toBeGreaterThan(5_000_000)
  })

  test('uses the scheduler for a response that is read as a whole only after 1 MiB', async () => {
    const answers: UpstreamResponse[] = []
    const granted: (() => void)[] = []
    const scheduler: ReadScheduler = {
      take(_, grant) {
        granted.push(grant)
        return false
      },
    }
    const subject = connection(slowSocket([]), owner, Buffer.alloc(joinedBytesMax), scheduler)
    const mebibyte = 1024 * 1024
    subject.start({ ...outgoingRequest([], (response) => answers.push(response)), bodyBytesMax: 10 * mebibyte }, false)
    subject.received(Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${2 * mebibyte}\r\n\r\n`))
    let held = 0
    const whole = answers[0]?.body.readAll({ reserve: (bytes) => (held += bytes) > 0 })
    subject.received(Buffer.alloc(mebibyte))
    expect([held, granted.length]).toEqual([mebibyte, 0])
    subject.received(Buffer.alloc(mebibyte))
    expect([held, granted.length]).toEqual([mebibyte, 1])
    for (let grant = granted.shift(); grant !== undefined; grant = granted.shift()) grant()
    expect((await whole)?.length).toBe(2 * mebibyte)
  })
})

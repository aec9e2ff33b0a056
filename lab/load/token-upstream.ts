/**
 * Upstream process of the load runs. Below `/fail/` it answers 500 at once, elsewhere as ordered (token-format.ts),
 * with one write for each token. It prints `{"port":…}`, `{"asked":NAME}` for each requested stream, and
 * `{"gone":NAME,"us":…}` for each order whose client leaves before its end.
 */
import type { Socket } from 'bun'
import { clockUs } from '../../bench/upstream-protocol.ts'
import { requestReader, type ReceivedRequest } from '../../test/fakes/request-reader.ts'
import { coarseClock } from './coarse-clock.ts'
import { doneEvent, finishEvent, plainBody, readOrder, roleEvent, tokenEvent, type Order } from './token-format.ts'

interface Connection {
  readonly read: ReturnType<typeof requestReader>
  /** Text that the socket has not taken yet. */
  unsent: string
  /** The order that is being answered. */
  order: Order | undefined
}

type UpstreamSocket = Socket<Connection>

const streamHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const streamEnd = `${framed(finishEvent)}${framed(doneEvent)}0\r\n\r\n`
const clock = coarseClock()

function framed(event: string): string {
  return `${(event.length + 2).toString(16)}\r\n${event}\n\n\r\n`
}

function json(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function send(socket: UpstreamSocket, text: string): void {
  const connection = socket.data
  if (connection.unsent !== '') {
    connection.unsent += text
    return
  }
  const written = Math.max(0, socket.write(text))
  if (written < text.length) connection.unsent = text.slice(written)
}

function answer(socket: UpstreamSocket, { path, body }: ReceivedRequest): void {
  if (path.startsWith('/fail/'))
    return send(
      socket,
      json('500 Internal Server Error', '{"error":{"message":"as asked","type":"server_error","code":null}}'),
    )
  const order = readOrder(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'))
  socket.data.order = order
  if (order.stream) console.log(JSON.stringify({ asked: order.name }))
  const begin = (): void => {
    if (socket.data.order !== order) return
    if (order.stream) return beginStream(socket, order)
    // The blank line is white space in JSON, and ends an event for the reader of the clients.
    send(socket, json('200 OK', `${plainBody(order.name)}\n\n`))
    socket.data.order = undefined
  }
  if (order.holdMs === 0) begin()
  else clock.at(clock.now + clock.ticks(order.holdMs), begin)
}

function beginStream(socket: UpstreamSocket, order: Order): void {
  const paceTicks = clock.ticks(order.paceMs)
  let number = 0,
    due = clock.now
  send(socket, streamHead + framed(roleEvent))

  function next(): void {
    if (socket.data.order !== order) return
    send(socket, framed(tokenEvent(order.name, number, clockUs())))
    number++
    if (number === order.tokens) {
      send(socket, streamEnd)
      socket.data.order = undefined
      return
    }
    due += paceTicks
    clock.at(due, next)
  }
  next()
}

const listener = Bun.listen<Connection>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { read: requestReader(), unsent: '', order: undefined }
      socket.setNoDelay(true)
    },
    data(socket, bytes) {
      for (const found of socket.data.read(bytes)) {
        if (typeof found === 'string') throw new Error(`the service speaks bad HTTP: ${found}`)
        answer(socket, found)
      }
    },
    drain(socket) {
      const text = socket.data.unsent
      socket.data.unsent = ''
      send(socket, text)
    },
    close(socket) {
      const { order } = socket.data
      if (order === undefined) return
      socket.data.order = undefined
      console.log(JSON.stringify({ gone: order.name, us: clockUs() }))
    },
    error(socket) {
      socket.terminate()
    },
  },
})

console.log(JSON.stringify({ port: listener.port }))

/**
 * Process of the mock upstream: `upstream.ts PORT`. Prints one line when it listens.
 *
 * A plain request gets the same answer of 1 KB each time, at once or after the time in the request, in the format of
 * its path. A streamed one gets a role chunk and the first content chunk at once, further content chunks at the
 * requested pace, then a finish chunk and `[DONE]`, or what the format has instead. Each content chunk is one write and
 * carries its send time. Plain sockets keep the upstream much cheaper than any proxy.
 */
import type { Socket } from 'bun'
import { readSpokenShape, spokenAt, spokenFormats, spokenNames, type SpokenName } from './spoken-formats.ts'
import { clockUs, readHoldUs, readStreamShape, type StreamShape } from './upstream-protocol.ts'

/** The current stream of a connection. */
interface Streaming {
  readonly speaks: SpokenName
  readonly shape: StreamShape
  sent: number
  /** All content, for formats that repeat it at the end. */
  text: string
  dueUs: number
}

interface Connection {
  /** Whether a plain answer is delayed: the next request waits for it. */
  isHolding: boolean
  /** Bytes of an incomplete request, as latin1. */
  received: string
  /** Text that the socket has not taken yet. */
  unsent: string
  streaming: Streaming | undefined
}

type UpstreamSocket = Socket<Connection>

const plainAnswers = spokenNames.map((name) => {
  const answer = JSON.stringify(spokenFormats[name].whole)
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${answer.length}\r\n\r\n`
  return [name, head + answer] as const
})
const plainAnswerOf = new Map<SpokenName, string>(plainAnswers)
const streamHead = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

function framed(event: string): string {
  return `${event.length.toString(16)}\r\n${event}\r\n`
}

function send(socket: UpstreamSocket, text: string): void {
  const connection = socket.data
  if (connection.unsent !== '') {
    connection.unsent += text
    return
  }
  const written = socket.write(text)
  if (written < text.length) connection.unsent = text.slice(Math.max(written, 0))
}

function sendContent(socket: UpstreamSocket, streaming: Streaming, nowUs: number): void {
  const { content, end } = spokenFormats[streaming.speaks]
  const text = ` t${nowUs}`
  send(socket, framed(content(text, streaming.sent)))
  streaming.sent++
  if (streaming.speaks === 'responses') streaming.text += text
  // From the time at which it was due: the pace stays even, and a delayed upstream catches up.
  streaming.dueUs += streaming.shape.paceUs
  if (streaming.sent < streaming.shape.chunks) return
  // The end is sent without a pause, so that the connection is free for the next stream.
  send(socket, `${framed(end(streaming.text, streaming.sent))}0\r\n\r\n`)
  socket.data.streaming = undefined
  streams.delete(socket)
}

function startStream(socket: UpstreamSocket, speaks: SpokenName, shape: StreamShape): void {
  const streaming: Streaming = { speaks, shape, sent: 0, text: '', dueUs: clockUs() }
  socket.data.streaming = streaming
  streams.add(socket)
  const { begin } = spokenFormats[speaks]
  send(socket, begin === '' ? streamHead : streamHead + framed(begin))
  sendContent(socket, streaming, clockUs())
  while (shape.paceUs === 0 && socket.data.streaming === streaming) sendContent(socket, streaming, clockUs())
}

function answerPlain(socket: UpstreamSocket, speaks: SpokenName, holdUs: number): void {
  const answer = plainAnswerOf.get(speaks) ?? ''
  if (holdUs === 0) {
    send(socket, answer)
    return
  }
  socket.data.isHolding = true
  setTimeout(() => {
    socket.data.isHolding = false
    send(socket, answer)
    answerRequests(socket)
  }, holdUs / 1000)
}

/** Answers every complete request in `received`, in order. */
function answerRequests(socket: UpstreamSocket): void {
  const connection = socket.data
  while (connection.streaming === undefined && !connection.isHolding) {
    const headEnd = connection.received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const body = wholeBody(connection.received, headEnd)
    if (body === undefined) return
    const speaks = spokenAt(connection.received.slice(0, connection.received.indexOf(' HTTP/')).split('?')[0] ?? '')
    connection.received = connection.received.slice(body.end)
    const shape = readSpokenShape(body.text) ?? readStreamShape(body.text)
    if (shape === undefined) answerPlain(socket, speaks, readHoldUs(body.text))
    else startStream(socket, speaks, shape)
  }
}

/**
 * Reads a counted or chunked body after a head; undefined while it is incomplete. `end` is the position of the next
 * request.
 */
function wholeBody(received: string, headEnd: number): { readonly text: string; readonly end: number } | undefined {
  const head = received.slice(0, headEnd)
  const start = headEnd + 4
  const length = /\r\ncontent-length:\s*(\d+)/i.exec(head)?.[1]
  if (length !== undefined) {
    const end = start + Number(length)
    return received.length < end ? undefined : { text: received.slice(start, end), end }
  }
  if (!/\r\ntransfer-encoding:/i.test(head)) return { text: '', end: start }
  const last = received.indexOf('0\r\n\r\n', start)
  return last < 0 ? undefined : { text: received.slice(start, last), end: last + 5 }
}

const streams = new Set<UpstreamSocket>()

setInterval(() => {
  const nowUs = clockUs()
  for (const socket of streams) {
    const streaming = socket.data.streaming
    if (streaming !== undefined && streaming.dueUs <= nowUs) sendContent(socket, streaming, nowUs)
  }
}, 1)

const listener = Bun.listen<Connection>({
  hostname: '127.0.0.1',
  port: Number(process.argv[2] ?? 0),
  socket: {
    open(socket) {
      socket.data = { isHolding: false, received: '', unsent: '', streaming: undefined }
      socket.setNoDelay(true)
    },
    data(socket, bytes) {
      socket.data.received += bytes.toString('latin1')
      answerRequests(socket)
    },
    drain(socket) {
      const text = socket.data.unsent
      socket.data.unsent = ''
      send(socket, text)
    },
    close(socket) {
      streams.delete(socket)
    },
    error(socket) {
      socket.terminate()
    },
  },
})

console.log(`listening on ${listener.port}`)

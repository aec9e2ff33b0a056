/**
 * The load of large bodies, a process of its own: `body-client.ts JSON` with a BodyLoad; prints a BodyOutcome as JSON.
 * Each connection sends one request and waits for its answer.
 */
import type { Socket } from 'bun'
import { answerReader, type AnswerReader } from './answer-reader.ts'
import { parseBodyLoad, type BodyOutcome } from './body-load.ts'
import { chatPath, clockUs, heldRequestBody } from './upstream-protocol.ts'

interface Connection {
  readonly reader: AnswerReader
  status: number
  /** Bytes of the request that the socket has taken. */
  sent: number
  isSettled: boolean
}

const load = parseBodyLoad(JSON.parse(process.argv[2] ?? '{}'))
const body = heldRequestBody(load.bodyBytes, load.holdUs)
const headers = Object.entries({
  ...load.headers,
  'content-type': 'application/json',
  'content-length': String(body.length),
})
const head = `POST ${load.path ?? chatPath} HTTP/1.1\r\nhost: 127.0.0.1:${load.port}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
const request = Buffer.from(head + body, 'latin1')

const counts = { answered: 0, refused: 0, failed: 0 }
const startedUs = clockUs()
const whenAllSettled = Promise.withResolvers<void>()

function settle(outcome: keyof typeof counts): void {
  counts[outcome]++
  if (counts.answered + counts.refused + counts.failed === load.connections) whenAllSettled.resolve()
}

function settleConnection(socket: Socket<Connection>, outcome: keyof typeof counts): void {
  if (socket.data.isSettled) return
  socket.data.isSettled = true
  socket.end()
  settle(outcome)
}

function sendRest(socket: Socket<Connection>): void {
  const connection = socket.data
  if (connection.sent < request.length) connection.sent += Math.max(socket.write(request.subarray(connection.sent)), 0)
}

function connectionOf(socket: Socket<Connection>): Connection {
  const connection: Connection = {
    reader: answerReader({
      onHead: (status) => (connection.status = status),
      onEvent: () => {},
      onEnd: () => settleConnection(socket, connection.status === 200 ? 'answered' : 'refused'),
    }),
    status: 0,
    sent: 0,
    isSettled: false,
  }
  return connection
}

function open(): Promise<unknown> {
  return Bun.connect<Connection>({
    hostname: '127.0.0.1',
    port: load.port,
    socket: {
      open(socket) {
        socket.data = connectionOf(socket)
        sendRest(socket)
      },
      drain: sendRest,
      data(socket, bytes) {
        try {
          socket.data.reader.take(bytes)
        } catch {
          // No HTTP: counted, as everything is.
          settleConnection(socket, 'failed')
        }
      },
      // A refusal may come with the connection closed before the request was taken whole.
      close: (socket) => settleConnection(socket, socket.data.status > 200 ? 'refused' : 'failed'),
      error: (socket) => settleConnection(socket, 'failed'),
    },
  }).catch(() => settle('failed'))
}

const timeIsOver = Bun.sleep(load.secondsMost * 1000)
for (let opened = 0; opened < load.connections && clockUs() - startedUs < load.secondsMost * 1e6; opened++) {
  // A few at a time, so that no listen queue overflows.
  const opening = open()
  if (opened % 10 === 9) await Promise.race([opening, timeIsOver])
}
await Promise.race([whenAllSettled.promise, timeIsOver])

const { answered, refused, failed } = counts
const outcome: BodyOutcome = {
  answered,
  refused,
  failed,
  unfinished: load.connections - answered - refused - failed,
  elapsedUs: clockUs() - startedUs,
}
console.log(JSON.stringify(outcome))
process.exit(0)

/**
 * Client process for large bodies: `body-client.ts JSON` with a BodyLoad. Prints a BodyOutcome as JSON. Each connection
 * sends one request and waits for its answer.
 */
import type { Socket } from 'bun'
import { answerReader, type AnswerReader } from './answer-reader.ts'
import { parseBodyLoad, type BodyOutcome } from './body-load.ts'
import { requestHead, clockUs, heldRequestBody } from './upstream-protocol.ts'

interface Connection {
  readonly reader: AnswerReader
  status: number
  /** Bytes of the request that the socket has taken. */
  sent: number
  isSettled: boolean
}

const load = parseBodyLoad(JSON.parse(process.argv[2] ?? '{}'))
const body = heldRequestBody(load.bodyBytes, load.holdUs)
const request = Buffer.from(requestHead(load, body.length) + body, 'latin1')

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
          // No HTTP: counts as failed.
          settleConnection(socket, 'failed')
        }
      },
      // A proxy may refuse and close before it has read the whole request.
      close: (socket) => settleConnection(socket, socket.data.status > 200 ? 'refused' : 'failed'),
      error: (socket) => settleConnection(socket, 'failed'),
    },
  }).catch(() => settle('failed'))
}

const timeIsOver = Bun.sleep(load.secondsMax * 1000)
for (let opened = 0; opened < load.connections && clockUs() - startedUs < load.secondsMax * 1e6; opened++) {
  // 10 at a time, so that no backlog overflows.
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

/**
 * Client process for streams: `stream-client.ts JSON` with a StreamLoad. Prints a StreamOutcome as JSON. Each
 * connection requests one stream after the other and reads it to its end. With a window it takes figures only while all
 * streams are open.
 */
import type { Socket } from 'bun'
import { answerReader, type AnswerReader } from './answer-reader.ts'
import { measuredWindow } from './measured-window.ts'
import { spokenFormats, spokenRequest } from './spoken-formats.ts'
import { percentile } from './statistics.ts'
import { parseStreamLoad, type StreamOutcome, type StreamWindow } from './stream-load.ts'
import { requestHead, clockUs, contentOf, streamRequestBody } from './upstream-protocol.ts'

interface Connection {
  reader: AnswerReader
  streamsLeft: number
  requestedUs: number
  /** Content chunks of the current stream. */
  contents: number
  isDone: boolean
}

const load = parseStreamLoad(JSON.parse(process.argv[2] ?? '{}'))
const { speaks } = load
const body = speaks === undefined ? streamRequestBody(load) : spokenRequest(speaks, load)
const address = speaks === undefined ? load : { ...load, path: spokenFormats[speaks].path(true) }
const request = requestHead(address, body.length) + body

const openWindow = load.window === undefined ? undefined : measuredWindow(load.pid)
let isMeasuring = openWindow === undefined
let window: StreamWindow | undefined

const firstContentUs: number[] = []
const delaysUs: number[] = []
let contents = 0
let reads = 0
let complete = 0
let failed = 0
let together = 0
let togetherMax = 0
const startedUs = clockUs()
const lastStartUs = load.secondsMax === undefined ? Infinity : startedUs + load.secondsMax * 1e6
const whenAllDone = Promise.withResolvers<void>()
let connectionsLeft = load.connections

function ask(socket: Socket<Connection>): void {
  socket.data.contents = 0
  socket.data.requestedUs = clockUs()
  if (socket.write(request) < request.length) throw new Error('the socket did not take a request of 1 KB')
}

function takeEvent(connection: Connection, event: string): void {
  const sentUs = contentOf(event)
  if (sentUs === undefined) return
  const nowUs = clockUs()
  contents++
  connection.contents++
  if (isMeasuring) delaysUs.push(nowUs - sentUs)
  if (connection.contents > 1) return
  firstContentUs.push(nowUs - connection.requestedUs)
  together++
  togetherMax = Math.max(togetherMax, together)
  if (together === load.connections) void measureWindow()
}

async function measureWindow(): Promise<void> {
  if (load.window === undefined || openWindow === undefined || isMeasuring) return
  await Bun.sleep(load.window.settleUs / 1000)
  isMeasuring = true
  const close = openWindow()
  const before = { contents, reads }
  await Bun.sleep(load.window.lengthUs / 1000)
  isMeasuring = false
  if (together === load.connections)
    window = { ...close(), contents: contents - before.contents, reads: reads - before.reads }
}

function endStream(socket: Socket<Connection>, isComplete: boolean): void {
  const connection = socket.data
  if (connection.isDone) return
  if (connection.contents > 0) together--
  if (isComplete && connection.contents === load.chunks) complete++
  else failed++
  connection.streamsLeft--
  if (isComplete && clockUs() > lastStartUs) connection.streamsLeft = 0
  if (connection.streamsLeft > 0 && isComplete) {
    ask(socket)
    return
  }
  failed += connection.streamsLeft
  connection.isDone = true
  socket.end()
  connectionsLeft--
  if (connectionsLeft === 0) whenAllDone.resolve()
}

async function open(): Promise<void> {
  await Bun.connect<Connection>({
    hostname: '127.0.0.1',
    port: load.port,
    socket: {
      open(socket) {
        const reader = answerReader({
          onHead(status) {
            if (status !== 200) throw new Error(`answered ${status}`)
          },
          onEvent: (event) => takeEvent(socket.data, event),
          onEnd: () => endStream(socket, true),
        })
        socket.data = { reader, streamsLeft: load.streamsPerConnection, requestedUs: 0, contents: 0, isDone: false }
        socket.setNoDelay(true)
        ask(socket)
      },
      data(socket, bytes) {
        reads++
        socket.data.reader.take(bytes)
      },
      close(socket) {
        endStream(socket, false)
      },
      error(socket) {
        endStream(socket, false)
      },
    },
  })
}

const spacingUs = load.spacingUs ?? 100
const firstUs = clockUs()
for (let opened = 0; opened < load.connections; opened++) {
  const waitUs = firstUs + opened * spacingUs - clockUs()
  if (waitUs > 0) await Bun.sleep(Math.ceil(waitUs / 1000))
  await open()
}
await whenAllDone.promise

const outcome: StreamOutcome = {
  contents,
  reads,
  complete,
  failed,
  togetherMax,
  firstContentP50Us: percentile(firstContentUs, 50) ?? 0,
  firstContentP99Us: percentile(firstContentUs, 99) ?? 0,
  elapsedUs: clockUs() - startedUs,
  delayP50Us: percentile(delaysUs, 50) ?? 0,
  delayP99Us: percentile(delaysUs, 99) ?? 0,
  ...(window === undefined ? {} : { window }),
}
console.log(JSON.stringify(outcome))
process.exit(0)

/**
 * Client process for a fixed rate: `rate-client.ts JSON` with a RateLoad. Prints a RateOutcome as JSON.
 *
 * Requests are sent at their scheduled times, whether or not earlier ones are answered, over kept-alive connections. A
 * connection carries one request at a time; a new one is opened when all are in use. Times count from the scheduled
 * time, so that a slow answer does not hide the waiting of later requests.
 */
import type { Socket } from 'bun'
import { answerReader, type AnswerReader } from './answer-reader.ts'
import { measuredWindow, type MeasuredWindow } from './measured-window.ts'
import { parseRateLoad, type RateOutcome } from './rate-load.ts'
import { spokenFormats, spokenRequest } from './spoken-formats.ts'
import { percentile } from './statistics.ts'
import { clockUs, heldRequestBody, requestHead } from './upstream-protocol.ts'

interface Connection {
  readonly reader: AnswerReader
  status: number
  /** Time of the request in flight; undefined while idle. */
  scheduledUs: number | undefined
}

const lateUs = 5000
const answersWaitMs = 2000

const load = parseRateLoad(JSON.parse(process.argv[2] ?? '{}'))
const { speaks } = load
const body = speaks === undefined ? heldRequestBody(1000, 0) : spokenRequest(speaks)
const address = speaks === undefined ? load : { ...load, path: spokenFormats[speaks].path(false) }
const request = requestHead(address, body.length) + body

const counts = { answered: 0, failed: 0, unsent: 0, late: 0 }
const latenciesUs: number[] = []
const sendsUs: number[] = []
/** Scheduled times of requests of the window without an answer. */
const pendingUs = new Set<number>()
let scheduled = 0
let answers = 0
const inFlight = new Set<Socket<Connection>>()
const idle: Socket<Connection>[] = []
let opening = 0

const startUs = clockUs()
const windowFromUs = startUs + load.settleUs
const windowToUs = windowFromUs + load.lengthUs
const intervalUs = 1e6 / load.perSecond
const openWindow = measuredWindow(load.pid)

function isCounted(scheduledUs: number): boolean {
  return scheduledUs >= windowFromUs && scheduledUs < windowToUs
}

function schedule(scheduledUs: number): void {
  if (isCounted(scheduledUs)) {
    scheduled++
    pendingUs.add(scheduledUs)
  }
  let socket = idle.pop()
  while (socket !== undefined && socket.readyState !== 1) socket = idle.pop()
  if (socket !== undefined) send(socket, scheduledUs)
  else if (inFlight.size + opening < load.inFlightMax) open(scheduledUs)
  else if (isCounted(scheduledUs)) counts.unsent++
}

function send(socket: Socket<Connection>, scheduledUs: number): void {
  socket.data.scheduledUs = scheduledUs
  inFlight.add(socket)
  if (socket.write(request) < request.length) throw new Error('the socket did not take a request of 1 KB')
  if (!isCounted(scheduledUs)) return
  const sendUs = clockUs() - scheduledUs
  sendsUs.push(sendUs)
  if (sendUs > lateUs) counts.late++
}

function endRequest(socket: Socket<Connection>, isAnswered: boolean): void {
  const { scheduledUs } = socket.data
  if (scheduledUs === undefined) return
  socket.data.scheduledUs = undefined
  inFlight.delete(socket)
  if (isAnswered) {
    answers++
    idle.push(socket)
  }
  if (!isCounted(scheduledUs)) return
  if (!isAnswered) counts.failed++
  else {
    counts.answered++
    pendingUs.delete(scheduledUs)
    latenciesUs.push(clockUs() - scheduledUs)
  }
}

function connectionOf(socket: Socket<Connection>): Connection {
  const connection: Connection = {
    reader: answerReader({
      onHead: (status) => (connection.status = status),
      onEvent: () => {},
      onEnd() {
        endRequest(socket, connection.status === 200)
        if (connection.status !== 200) socket.end()
      },
    }),
    status: 0,
    scheduledUs: undefined,
  }
  return connection
}

function open(scheduledUs: number): void {
  opening++
  Bun.connect<Connection>({
    hostname: '127.0.0.1',
    port: load.port,
    socket: {
      open(socket) {
        opening--
        socket.data = connectionOf(socket)
        socket.setNoDelay(true)
        send(socket, scheduledUs)
      },
      data(socket, bytes) {
        socket.data.reader.take(bytes)
      },
      close: (socket) => endRequest(socket, false),
      error: (socket) => endRequest(socket, false),
    },
  }).catch(() => {
    opening--
    if (isCounted(scheduledUs)) counts.failed++
  })
}

/** Sends at the rate until the end of the window. @returns figures of the window */
async function run(): Promise<{ readonly window: MeasuredWindow; readonly answersInWindow: number }> {
  let close: (() => MeasuredWindow) | undefined
  let answersBefore = 0
  let nextUs = startUs
  for (;;) {
    const nowUs = clockUs()
    if (close === undefined && nowUs >= windowFromUs) {
      close = openWindow()
      answersBefore = answers
    }
    for (; nextUs <= nowUs && nextUs < windowToUs; nextUs += intervalUs) schedule(nextUs)
    if (close !== undefined && nowUs >= windowToUs) return { window: close(), answersInWindow: answers - answersBefore }
    // Timers have whole milliseconds.
    await Bun.sleep(1)
  }
}

const { window, answersInWindow } = await run()
const untilMs = performance.now() + answersWaitMs
while (inFlight.size + opening > 0 && performance.now() < untilMs) await Bun.sleep(1)
const endUs = clockUs()
const timesUs = [...latenciesUs, ...[...pendingUs].map((scheduledUs) => endUs - scheduledUs)]

const outcome: RateOutcome = {
  window,
  scheduled,
  ...counts,
  unanswered: scheduled - counts.answered - counts.failed - counts.unsent,
  answersInWindow,
  p50Us: percentile(timesUs, 50) ?? 0,
  p99Us: percentile(timesUs, 99) ?? 0,
  sendP50Us: percentile(sendsUs, 50) ?? 0,
}
console.log(JSON.stringify(outcome))
process.exit(0)

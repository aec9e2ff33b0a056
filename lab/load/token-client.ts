/**
 * Client process of the load runs: `token-client.ts PLAN` with a LoadPlan as JSON. Writes a LoadLine as JSON each
 * second, and the outcome at the end. After SIGTERM no new request begins.
 */
import { clockUs } from '../../bench/upstream-protocol.ts'
import type { LoadLine, LoadPlan, StreamPlan } from './load-plan.ts'
import { loadTally } from './load-tally.ts'
import { plainConnections, runPlain } from './run-plain.ts'
import { runStream } from './run-stream.ts'

const tickMs = 10
const reportMs = 1_000
/** Open requests above which no plain request begins: the machine cannot sustain the rate. */
const underWayMax = 1_000
/** One in this number of streams is delayed before its first byte. */
const heldOf = 3

// Trusted: `load-processes.ts` starts this process.
const plan: LoadPlan = JSON.parse(process.argv[2] ?? '{}')
const { port, prefix } = plan
const started = performance.now()
const tally = loadTally()
const connections = plainConnections(port)
let isOver = false
let underWay = 0,
  orders = 0,
  streamsBegun = 0,
  plainBegun = 0

function write(line: LoadLine): void {
  console.log(JSON.stringify(line))
}

/** Runs one request to its end; the last one ends the process. */
async function run(work: (name: string) => Promise<void>): Promise<void> {
  underWay++
  await work(`${prefix}-${++orders}`)
  underWay--
  endIfDone()
}

function endIfDone(): void {
  if (!isOver || underWay > 0) return
  write({ kind: 'outcome', outcome: tally.outcome() })
  process.exit(0)
}

/** Runs a stream and its successors. */
async function keepStreaming(streams: StreamPlan): Promise<void> {
  const { tokens, paceMs, again, leaveWithinMs } = streams
  do {
    const holdMs = orders % heldOf === 0 ? streams.holdMs : 0
    await run((name) =>
      runStream({
        port,
        tally,
        order: { name, stream: true, tokens, paceMs, holdMs },
        leaveAfterMs: leaveWithinMs === undefined ? undefined : Math.random() * leaveWithinMs,
        onLeave: (left) => write({ kind: 'left', name: left, us: clockUs() }),
      }),
    )
  } while (again && !isOver)
}

/** Begins all streams and plain requests that are due by now. */
function begin(): void {
  const ms = performance.now() - started
  if (ms >= plan.seconds * 1_000) finish()
  if (isOver) return
  const { streams, plain } = plan
  const streamsDue = streams === undefined ? 0 : streams.count * Math.min(1, ms / Math.max(1, streams.rampMs))
  if (streams !== undefined) for (; streamsBegun < streamsDue; streamsBegun++) void keepStreaming(streams)
  const plainDue = ((plain?.perSecond ?? 0) * ms) / 1_000
  for (; plainBegun < plainDue; plainBegun++)
    if (underWay < underWayMax) void run((name) => runPlain(connections, { port, name, tally }))
}

function finish(): void {
  isOver = true
  clearInterval(beginning)
  endIfDone()
}

const beginning = setInterval(begin, tickMs)
setInterval(() => write({ kind: 'seen', seen: tally.seen() }), reportMs)
process.on('SIGTERM', finish)

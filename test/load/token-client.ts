/**
 * A load of the load runs, a process of its own: `token-client.ts PLAN` with a LoadPlan as JSON. Writes a LoadLine as
 * JSON each second, and the outcome at last. SIGTERM: nothing new begins.
 */
import { clockUs } from '../../bench/upstream-protocol.ts'
import type { LoadLine, LoadPlan, StreamPlan } from './load-plan.ts'
import { loadTally } from './load-tally.ts'
import { plainConnections, runPlain } from './run-plain.ts'
import { runStream } from './run-stream.ts'

const tickMs = 10
const reportMs = 1_000
/** With so much under way no plain request is begun: the machine does not hold the rate. */
const underWayMost = 1_000
/** So many streams in a row, one is held back before its first byte. */
const heldOf = 3

// Written by our own command, which starts this process.
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

/** Does one thing to its end; the last one ends the process. */
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

/** A stream, and those that follow it. */
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

/** Begins what is due by now: a part of the streams while they are being opened, and plain requests at their rate. */
function begin(): void {
  const ms = performance.now() - started
  if (ms >= plan.seconds * 1_000) finish()
  if (isOver) return
  const { streams, plain } = plan
  const streamsDue = streams === undefined ? 0 : streams.count * Math.min(1, ms / Math.max(1, streams.rampMs))
  if (streams !== undefined) for (; streamsBegun < streamsDue; streamsBegun++) void keepStreaming(streams)
  const plainDue = ((plain?.perSecond ?? 0) * ms) / 1_000
  for (; plainBegun < plainDue; plainBegun++)
    if (underWay < underWayMost) void run((name) => runPlain(connections, { port, name, tally }))
}

function finish(): void {
  isOver = true
  clearInterval(beginning)
  endIfDone()
}

const beginning = setInterval(begin, tickMs)
setInterval(() => write({ kind: 'seen', seen: tally.seen() }), reportMs)
process.on('SIGTERM', finish)

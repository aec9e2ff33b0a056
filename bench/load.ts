import { join } from 'node:path'
import { parseBodyOutcome, type BodyLoad, type BodyOutcome } from './body-load.ts'
import { asRecord, numberIn, type LoadAddress } from './load-address.ts'
import { ProgramError, runProgram } from './processes.ts'
import { parseRateOutcome, type RateLoad, type RateOutcome } from './rate-load.ts'
import { spokenFormats, spokenRequest } from './spoken-formats.ts'
import { parseStreamOutcome, type StreamLoad, type StreamOutcome } from './stream-load.ts'
import { chatPath } from './upstream-protocol.ts'

/** Target of a load: a proxy, or the upstream itself. */
export interface LoadTarget extends LoadAddress {
  readonly name: string
}

/** Results of wrk. */
export interface PlainOutcome {
  readonly requests: number
  readonly durationUs: number
  readonly p50Us: number
  readonly p99Us: number
}

/**
 * Sends POSTs of 1 KB with wrk on `core`, over `connections` kept-alive connections, as fast as they are answered.
 *
 * @throws ProgramError when wrk fails, when a request fails or gets another status than 2xx or 3xx, or when none is
 *   answered in time
 */
export async function plainLoad(
  target: LoadTarget,
  connections: number,
  seconds: number,
  core: number,
): Promise<PlainOutcome> {
  const outcome = await perhapsNoneAnswered(target, connections, seconds, core)
  if (outcome.requests === 0)
    throw new ProgramError(`wrk on ${target.name}: no request was answered within ${seconds} s`)
  return outcome
}

async function perhapsNoneAnswered(
  target: LoadTarget,
  connections: number,
  seconds: number,
  core: number,
): Promise<PlainOutcome> {
  const headers = Object.entries(target.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const { speaks } = target
  const path = speaks === undefined ? (target.path ?? chatPath) : spokenFormats[speaks].path(false)
  const url = `http://127.0.0.1:${target.port}${path}`
  const wrk = [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    join(import.meta.dir, 'wrk.lua'),
    ...headers,
    url,
  ]
  const environment = speaks === undefined ? {} : { BENCH_BODY: spokenRequest(speaks) }
  const output = await runProgram(['taskset', '-c', String(core), ...wrk], (seconds + 30) * 1000, { environment })
  return parsePlainOutcome(output, target.name)
}

/** End of a plain load: the earlier of both. */
export interface Enough {
  readonly requests: number
  /** Time limit. A run of wrk that has begun is completed. */
  readonly seconds: number
}

/**
 * Runs plainLoad over 64 connections until enough requests are answered, or until the time limit.
 *
 * @returns the number of answered requests
 * @throws ProgramError as plainLoad
 */
export async function plainLoadUntil(target: LoadTarget, enough: Enough, core: number): Promise<number> {
  const until = performance.now() + enough.seconds * 1000
  let done = 0
  for (let seconds = 1; done < enough.requests && performance.now() < until;) {
    const outcome = await perhapsNoneAnswered(target, 64, seconds, core)
    done += outcome.requests
    const rest = (enough.requests - done) / (outcome.requests / seconds)
    seconds = Math.min(Math.max(Math.ceil(rest), 1), 5)
  }
  return done
}

/** Parses the line of wrk.lua. @throws ProgramError when it is missing or counts a failed request */
export function parsePlainOutcome(output: string, targetName: string): PlainOutcome {
  const line = /^JSON (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new ProgramError(`wrk on ${targetName} wrote no result: ${output.slice(0, 200)}`)
  const fields = asRecord(JSON.parse(line), 'what wrk wrote')
  const requests = numberIn(fields, 'requests')
  const failed = numberIn(fields, 'failed')
  const badStatus = numberIn(fields, 'badStatus')
  if (failed > 0 || badStatus > 0) {
    throw new ProgramError(
      `wrk on ${targetName}: of ${requests} requests ${failed} failed and ${badStatus} got a bad status`,
    )
  }
  return {
    requests,
    durationUs: numberIn(fields, 'durationUs'),
    p50Us: numberIn(fields, 'p50Us'),
    p99Us: numberIn(fields, 'p99Us'),
  }
}

/** Parameters of a stream load. */
export type Streams = Omit<StreamLoad, keyof LoadAddress>

/**
 * Sends plain requests at a fixed rate over plain sockets from `core`, on schedule.
 *
 * @throws ProgramError when the client fails, or a request gets no answer 200 for another reason than slowness
 */
export async function rateLoad(
  target: LoadTarget,
  rate: Omit<RateLoad, keyof LoadAddress>,
  core: number,
): Promise<RateOutcome> {
  const load: RateLoad = { ...rate, ...addressOf(target) }
  const client = [process.execPath, join(import.meta.dir, 'rate-client.ts'), JSON.stringify(load)]
  const limitMs = (rate.settleUs + rate.lengthUs) / 1000 + 30_000
  const outcome = parseRateOutcome(JSON.parse(await runProgram(['taskset', '-c', String(core), ...client], limitMs)))
  if (outcome.failed > 0)
    throw new ProgramError(`requests to ${target.name}: of ${outcome.scheduled} requests ${outcome.failed} failed`)
  return outcome
}

/**
 * Requests streams over plain sockets from `core`, and reads them to their ends.
 *
 * @throws ProgramError when the client fails or a stream is cut or incomplete
 */
export async function streamLoad(target: LoadTarget, streams: Streams, core: number): Promise<StreamOutcome> {
  const load: StreamLoad = { ...streams, ...addressOf(target) }
  const client = [process.execPath, join(import.meta.dir, 'stream-client.ts'), JSON.stringify(load)]
  const output = await runProgram(['taskset', '-c', String(core), ...client], 90_000)
  const outcome = parseStreamOutcome(JSON.parse(output))
  if (outcome.failed > 0) {
    throw new ProgramError(`streams from ${target.name}: ${outcome.failed} cut or short, ${outcome.complete} complete`)
  }
  return outcome
}

/**
 * Sends requests with large bodies from `core`, all at once, and counts their results. A failed request is no error.
 *
 * @throws ProgramError when the client itself fails
 */
export async function bodyLoad(
  target: LoadTarget,
  bodies: Omit<BodyLoad, keyof LoadAddress>,
  core: number,
): Promise<BodyOutcome> {
  const load: BodyLoad = { ...bodies, ...addressOf(target) }
  const client = [process.execPath, join(import.meta.dir, 'body-client.ts'), JSON.stringify(load)]
  const output = await runProgram(['taskset', '-c', String(core), ...client], (bodies.secondsMax + 30) * 1000)
  return parseBodyOutcome(JSON.parse(output))
}

function addressOf({ port, headers, path, speaks }: LoadTarget): LoadAddress {
  return { port, headers, ...(path === undefined ? {} : { path }), ...(speaks === undefined ? {} : { speaks }) }
}

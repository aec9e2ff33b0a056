import { asRecord, numberIn } from './stream-load.ts'

/** What the client of large bodies is asked to do. */
export interface BodyLoad {
  /** Of the proxy, on 127.0.0.1. */
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** Default: the usual one. */
  readonly path?: string
  /** Requests at once, each over a connection of its own. */
  readonly connections: number
  /** Of each body, about. */
  readonly bodyBytes: number
  /** How long the upstream holds each answer back, so that all requests are in the proxy at once. */
  readonly holdUs: number
  /** Give up after this many seconds. */
  readonly secondsMost: number
}

/** What became of the requests: each is counted once. */
export interface BodyOutcome {
  /** With 200 and a whole body. */
  readonly answered: number
  /** With another status. */
  readonly refused: number
  /** Connection refused, cut, or no HTTP. */
  readonly failed: number
  /** Not answered when the time was over. */
  readonly unfinished: number
  /** First request begun → last answered, or the time over. */
  readonly elapsedUs: number
}

/** @throws Error naming the field that is not as BodyLoad says. */
export function parseBodyLoad(value: unknown): BodyLoad {
  const fields = asRecord(value, 'the load')
  const headers = asRecord(fields['headers'], 'headers')
  return {
    port: numberIn(fields, 'port'),
    headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, String(header)])),
    ...(fields['path'] === undefined ? {} : { path: String(fields['path']) }),
    connections: numberIn(fields, 'connections'),
    bodyBytes: numberIn(fields, 'bodyBytes'),
    holdUs: numberIn(fields, 'holdUs'),
    secondsMost: numberIn(fields, 'secondsMost'),
  }
}

/** @throws Error naming the field that is not as BodyOutcome says. */
export function parseBodyOutcome(value: unknown): BodyOutcome {
  const fields = asRecord(value, 'the outcome')
  return {
    answered: numberIn(fields, 'answered'),
    refused: numberIn(fields, 'refused'),
    failed: numberIn(fields, 'failed'),
    unfinished: numberIn(fields, 'unfinished'),
    elapsedUs: numberIn(fields, 'elapsedUs'),
  }
}

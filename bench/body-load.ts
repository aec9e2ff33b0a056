import { asRecord, numberIn } from './stream-load.ts'

/** Parameters of the client for large bodies. */
export interface BodyLoad {
  /** Port of the proxy, on 127.0.0.1. */
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** Default: {@link chatPath}. */
  readonly path?: string
  /** Concurrent requests, each on its own connection. */
  readonly connections: number
  /** Approximate size of each body. */
  readonly bodyBytes: number
  /** Delay of each answer at the upstream, so that all requests are in the proxy at once. */
  readonly holdUs: number
  /** Time limit, seconds. */
  readonly secondsMax: number
}

/** Results of the requests. Each counts once. */
export interface BodyOutcome {
  /** Complete answers with status 200. */
  readonly answered: number
  /** Answers with another status. */
  readonly refused: number
  /** Refused or cut connections, and malformed answers. */
  readonly failed: number
  /** Unanswered at the time limit. */
  readonly unfinished: number
  /** First request begun → last answered, or time limit. */
  readonly elapsedUs: number
}

/** @throws Error with the name of the first invalid field */
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
    secondsMax: numberIn(fields, 'secondsMax'),
  }
}

/** @throws Error with the name of the first invalid field */
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

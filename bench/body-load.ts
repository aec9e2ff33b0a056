import { asRecord, numberIn, parseLoadAddress, type LoadAddress } from './load-address.ts'

/** Parameters of the client for large bodies. */
export interface BodyLoad extends LoadAddress {
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
  return {
    ...parseLoadAddress(fields),
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

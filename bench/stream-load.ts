import type { StreamShape } from './upstream-protocol.ts'

/** What the stream client is asked to do. */
export interface StreamLoad extends StreamShape {
  /** Of the proxy, on 127.0.0.1. */
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** Streams at once. */
  readonly connections: number
  /** One after the other on each connection. */
  readonly streamsPerConnection: number
  /** Begin no further stream after this many seconds. Default: go on until all have come. */
  readonly secondsMost?: number
  /** Default: the usual one. */
  readonly path?: string
}

/** What it saw. */
export interface StreamOutcome {
  /** Content chunks received. */
  readonly contents: number
  /** Streams that came to their end with every chunk. */
  readonly complete: number
  /** Streams that did not. */
  readonly failed: number
  /** Most streams past their first content chunk and before their end at one moment. */
  readonly togetherMost: number
  /** Request written → first content chunk received, microseconds. */
  readonly firstContentP50Us: number
  readonly firstContentP99Us: number
  /** First request written → last stream ended. */
  readonly elapsedUs: number
  /** Content chunk written by the upstream → received, microseconds. */
  readonly delayP50Us: number
  readonly delayP99Us: number
}

/** @throws Error naming the field that is not as StreamLoad says. */
export function parseStreamLoad(value: unknown): StreamLoad {
  const fields = asRecord(value, 'the load')
  const headers = asRecord(fields['headers'], 'headers')
  return {
    port: numberIn(fields, 'port'),
    connections: numberIn(fields, 'connections'),
    streamsPerConnection: numberIn(fields, 'streamsPerConnection'),
    chunks: numberIn(fields, 'chunks'),
    paceUs: numberIn(fields, 'paceUs'),
    ...(fields['secondsMost'] === undefined ? {} : { secondsMost: numberIn(fields, 'secondsMost') }),
    ...(fields['path'] === undefined ? {} : { path: String(fields['path']) }),
    headers: Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, String(header)])),
  }
}

/** @throws Error naming the field that is not as StreamOutcome says. */
export function parseStreamOutcome(value: unknown): StreamOutcome {
  const fields = asRecord(value, 'the outcome')
  return {
    contents: numberIn(fields, 'contents'),
    complete: numberIn(fields, 'complete'),
    failed: numberIn(fields, 'failed'),
    togetherMost: numberIn(fields, 'togetherMost'),
    firstContentP50Us: numberIn(fields, 'firstContentP50Us'),
    firstContentP99Us: numberIn(fields, 'firstContentP99Us'),
    elapsedUs: numberIn(fields, 'elapsedUs'),
    delayP50Us: numberIn(fields, 'delayP50Us'),
    delayP99Us: numberIn(fields, 'delayP99Us'),
  }
}

/** @throws Error when it is no object. */
export function asRecord(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new Error(`${name} is not an object`)
  return Object.fromEntries(Object.entries(value))
}

/** @throws Error when the field is no number. */
export function numberIn(fields: Readonly<Record<string, unknown>>, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number') throw new Error(`${name} is not a number`)
  return value
}

import { asRecord, numberIn, parseLoadAddress, type LoadAddress } from './load-address.ts'
import { parseMeasuredWindow, type MeasuredWindow } from './measured-window.ts'
import type { StreamShape } from './upstream-protocol.ts'

/** Parameters of the stream client. */
export interface StreamLoad extends LoadAddress, StreamShape {
  /** Concurrent streams. */
  readonly connections: number
  /** Streams on each connection, one after the other. */
  readonly streamsPerConnection: number
  /** Time after which no stream begins, seconds. Default: no limit. */
  readonly secondsMax?: number
  /** Time between the starts of two streams. Default: 100 µs, so that no backlog overflows. */
  readonly spacingUs?: number
  /** Measures while all streams are open: begins so long after the last one has begun. Default: the whole run. */
  readonly window?: { readonly settleUs: number; readonly lengthUs: number }
  /** Process of the proxy, for its CPU time in the window. */
  readonly pid?: number
}

/** The time in which all streams were open, without their starts and ends. */
export interface StreamWindow extends MeasuredWindow {
  /** Content chunks received meanwhile. */
  readonly contents: number
  /** Reads from the sockets meanwhile. Fewer than chunks: chunks were joined on the way. */
  readonly reads: number
}

/** Results of the stream client. */
export interface StreamOutcome {
  /** Content chunks received. */
  readonly contents: number
  /** Reads from the sockets. */
  readonly reads: number
  /** Streams with every chunk and their end. */
  readonly complete: number
  /** Other streams. */
  readonly failed: number
  /** Maximum of concurrent streams between their first content chunk and their end. */
  readonly togetherMax: number
  /** Request written → first content chunk received, microseconds. */
  readonly firstContentP50Us: number
  readonly firstContentP99Us: number
  /** First request written → last stream ended. */
  readonly elapsedUs: number
  /** Content chunk written by the upstream → received, microseconds; in the window, if there is one. */
  readonly delayP50Us: number
  readonly delayP99Us: number
  /** Absent when none was requested, or when a stream ended before its end. */
  readonly window?: StreamWindow
}

/** @throws Error with the name of the first invalid field */
export function parseStreamLoad(value: unknown): StreamLoad {
  const fields = asRecord(value, 'the load')
  return {
    ...parseLoadAddress(fields),
    connections: numberIn(fields, 'connections'),
    streamsPerConnection: numberIn(fields, 'streamsPerConnection'),
    chunks: numberIn(fields, 'chunks'),
    paceUs: numberIn(fields, 'paceUs'),
    ...(fields['secondsMax'] === undefined ? {} : { secondsMax: numberIn(fields, 'secondsMax') }),
    ...(fields['spacingUs'] === undefined ? {} : { spacingUs: numberIn(fields, 'spacingUs') }),
    ...(fields['pid'] === undefined ? {} : { pid: numberIn(fields, 'pid') }),
    ...(fields['window'] === undefined ? {} : { window: parseWindow(asRecord(fields['window'], 'window')) }),
  }
}

function parseWindow(fields: Readonly<Record<string, unknown>>): NonNullable<StreamLoad['window']> {
  return { settleUs: numberIn(fields, 'settleUs'), lengthUs: numberIn(fields, 'lengthUs') }
}

/** @throws Error with the name of the first invalid field */
export function parseStreamOutcome(value: unknown): StreamOutcome {
  const fields = asRecord(value, 'the outcome')
  return {
    contents: numberIn(fields, 'contents'),
    reads: numberIn(fields, 'reads'),
    complete: numberIn(fields, 'complete'),
    failed: numberIn(fields, 'failed'),
    togetherMax: numberIn(fields, 'togetherMax'),
    firstContentP50Us: numberIn(fields, 'firstContentP50Us'),
    firstContentP99Us: numberIn(fields, 'firstContentP99Us'),
    elapsedUs: numberIn(fields, 'elapsedUs'),
    delayP50Us: numberIn(fields, 'delayP50Us'),
    delayP99Us: numberIn(fields, 'delayP99Us'),
    ...(fields['window'] === undefined ? {} : { window: parseStreamWindow(asRecord(fields['window'], 'window')) }),
  }
}

function parseStreamWindow(fields: Readonly<Record<string, unknown>>): StreamWindow {
  return {
    ...parseMeasuredWindow(fields),
    contents: numberIn(fields, 'contents'),
    reads: numberIn(fields, 'reads'),
  }
}

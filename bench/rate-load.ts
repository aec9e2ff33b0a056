import { asRecord, numberIn, parseLoadAddress, type LoadAddress } from './load-address.ts'
import { parseMeasuredWindow, type MeasuredWindow } from './measured-window.ts'

/** Parameters of the client that sends at a fixed rate. */
export interface RateLoad extends LoadAddress {
  /** Requests a second. */
  readonly perSecond: number
  /** Duration at this rate before figures are taken. */
  readonly settleUs: number
  readonly lengthUs: number
  /** Maximum of requests in flight, and of connections. A request beyond it is not sent. */
  readonly inFlightMax: number
  /** Process of the proxy, for its CPU time in the window. */
  readonly pid?: number
}

/**
 * Results of the requests that were scheduled in the window. Each counts once, as answered, failed, unanswered or
 * unsent.
 */
export interface RateOutcome {
  readonly window: MeasuredWindow
  readonly scheduled: number
  /** Answers with status 200. */
  readonly answered: number
  /** Other answers, and cut connections. */
  readonly failed: number
  /** Not answered 2 s after the last one was scheduled. */
  readonly unanswered: number
  /** Not sent, because the maximum was in flight. */
  readonly unsent: number
  /** Sent more than 5 ms after the scheduled time: the client itself was too slow. */
  readonly late: number
  /** Answers received within the window, of any request. */
  readonly answersInWindow: number
  /** Scheduled time → answer complete, microseconds. Requests without an answer count with the time until the end. */
  readonly p50Us: number
  readonly p99Us: number
  /** Scheduled time → written: the part of these times that is the client's. */
  readonly sendP50Us: number
}

/** @throws Error with the name of the first invalid field */
export function parseRateLoad(value: unknown): RateLoad {
  const fields = asRecord(value, 'the load')
  return {
    ...parseLoadAddress(fields),
    perSecond: numberIn(fields, 'perSecond'),
    settleUs: numberIn(fields, 'settleUs'),
    lengthUs: numberIn(fields, 'lengthUs'),
    inFlightMax: numberIn(fields, 'inFlightMax'),
    ...(fields['pid'] === undefined ? {} : { pid: numberIn(fields, 'pid') }),
  }
}

/** @throws Error with the name of the first invalid field */
export function parseRateOutcome(value: unknown): RateOutcome {
  const fields = asRecord(value, 'the outcome')
  return {
    window: parseMeasuredWindow(asRecord(fields['window'], 'window')),
    scheduled: numberIn(fields, 'scheduled'),
    answered: numberIn(fields, 'answered'),
    failed: numberIn(fields, 'failed'),
    unanswered: numberIn(fields, 'unanswered'),
    unsent: numberIn(fields, 'unsent'),
    late: numberIn(fields, 'late'),
    answersInWindow: numberIn(fields, 'answersInWindow'),
    p50Us: numberIn(fields, 'p50Us'),
    p99Us: numberIn(fields, 'p99Us'),
    sendP50Us: numberIn(fields, 'sendP50Us'),
  }
}

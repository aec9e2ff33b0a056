import type { TokenFaults } from './stream-check.ts'

/** Plan of a client process. It is passed as one argument, as JSON. */
export interface LoadPlan {
  readonly port: number
  /** Prefix of the names of its orders, `[\w-]+`; unique among clients. */
  readonly prefix: string
  /** After this time no new request begins; open requests go on to their end. */
  readonly seconds: number
  readonly streams?: StreamPlan
  readonly plain?: PlainPlan
}

/** Streams, each on its own connection. */
export interface StreamPlan {
  /** Open at once. */
  readonly count: number
  /** Time in which all streams are opened, milliseconds. */
  readonly rampMs: number
  readonly tokens: number
  readonly paceMs: number
  /** Delay of the first byte, for every third stream; milliseconds. */
  readonly holdMs: number
  /** Whether a new stream follows each that has ended. */
  readonly again: boolean
  /** Clients leave at random within this time, half of them with RST, half with FIN. Absent: they stay. */
  readonly leaveWithinMs?: number
}

/** Plain requests at a steady rate, over kept-alive connections. */
export interface PlainPlan {
  readonly perSecond: number
}

/** Counts of a client process so far. Streams that were left on purpose count only as `left`. */
export interface LoadSeen {
  readonly streams: {
    /** Streams past their first token now. */
    readonly open: number
    /** Maximum of `open`. */
    readonly openMax: number
    readonly complete: number
    /** Streams without status 200, cut, ended by an error event, or with wrong content. */
    readonly broken: number
    readonly left: number
    /** Tokens of all ended streams, complete or not. */
    readonly tokensExpected: number
  }
  readonly faults: Readonly<TokenFaults>
  readonly plain: { readonly right: number; readonly failed: number }
  /** The first failures, a line each. */
  readonly complaints: readonly string[]
}

/** Final counts, with histograms of durations in microseconds (histogram.ts). */
export interface LoadOutcome extends LoadSeen {
  /** Of tokens, from sending to arrival. */
  readonly delays: readonly (readonly [number, number])[]
  /** Of plain requests, to the end of the answer. */
  readonly latencies: readonly (readonly [number, number])[]
}

/** A line of output of a client process. */
export type LoadLine =
  | { readonly kind: 'seen'; readonly seen: LoadSeen }
  | { readonly kind: 'outcome'; readonly outcome: LoadOutcome }
  /** A client left an order on purpose (µs since 1970). */
  | { readonly kind: 'left'; readonly name: string; readonly us: number }

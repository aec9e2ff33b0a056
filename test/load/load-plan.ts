import type { TokenFaults } from './stream-check.ts'

/** What a client process is to do. Everything that takes part in the plan is in it, so that it travels as one argument. */
export interface LoadPlan {
  readonly port: number
  /** Begins the names of its orders: `[\w-]+`, unlike those of other clients. */
  readonly prefix: string
  /** Nothing new begins after so many seconds; what has begun goes on to its end. */
  readonly seconds: number
  readonly streams?: StreamPlan
  readonly plain?: PlainPlan
}

/** Streams, each on a connection of its own. */
export interface StreamPlan {
  /** Open at once. */
  readonly count: number
  /** Over which they are opened, milliseconds. */
  readonly rampMs: number
  readonly tokens: number
  readonly paceMs: number
  /** Before the first byte, for every third of them; milliseconds. */
  readonly holdMs: number
  /** One that has ended is followed by another. */
  readonly again: boolean
  /** Clients leave at random within so many milliseconds, half of them with RST, half with FIN. Absent: they stay. */
  readonly leaveWithinMs?: number
}

/** Plain requests at a steady rate, over connections that are kept alive. */
export interface PlainPlan {
  readonly perSecond: number
}

/** What a client process has seen so far. Streams that were left on purpose count as `left` and nowhere else. */
export interface LoadSeen {
  readonly streams: {
    /** Past their first token, at this moment. */
    readonly open: number
    /** The most that were open at one moment. */
    readonly openMost: number
    readonly complete: number
    /** Not answered with 200, cut, ended by an error event, or wrong. */
    readonly broken: number
    readonly left: number
    /** Tokens of those that ended, complete or not. */
    readonly tokensExpected: number
  }
  readonly faults: Readonly<TokenFaults>
  readonly plain: { readonly right: number; readonly failed: number }
  /** Of the first things that went wrong, a line each. */
  readonly complaints: readonly string[]
}

/** What it has seen in the end, with the durations in histograms (histogram.ts), microseconds. */
export interface LoadOutcome extends LoadSeen {
  /** A token, from its sending to its arrival. */
  readonly delays: readonly (readonly [number, number])[]
  /** A plain request, from its sending to the end of its answer. */
  readonly latencies: readonly (readonly [number, number])[]
}

/** A line that a client process writes. */
export type LoadLine =
  | { readonly kind: 'seen'; readonly seen: LoadSeen }
  | { readonly kind: 'outcome'; readonly outcome: LoadOutcome }
  /** A client left an order on purpose (µs since 1970). */
  | { readonly kind: 'left'; readonly name: string; readonly us: number }

import type { FailoverOptions, Limits, Quirks, Timeouts } from './config.ts'
import { table } from './table.ts'

/** Milliseconds (failover.md, Timers). */
export const defaultTimeouts: Timeouts = { connectMs: 5_000, firstTokenMs: 30_000, idleMs: 60_000, attemptMs: 120_000 }

/** (docs/configuration.md) */
export const defaultLimits: Limits = { bodyBytes: 32 * 1024 * 1024, deadlineMs: 600_000 }

/** (failover.md row 13, A cut) */
export const defaultFailover: FailoverOptions = { onContentPolicy: 'stop', onCut: 'resume' }

/** A provider that departs from the common format in nothing. */
export const noQuirks: Quirks = { rename: table(), drop: [], continuation: false, streamUsage: false }

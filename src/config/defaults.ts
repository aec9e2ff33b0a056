import type { FailoverConfig, Limits, Quirks, Timeouts } from './config.ts'

/** Milliseconds (failover.md, Timers). */
export const defaultTimeouts: Timeouts = { connectMs: 5_000, firstTokenMs: 30_000, idleMs: 60_000, attemptMs: 120_000 }

/** (docs/configuration.md) */
export const defaultLimits: Limits = { bodyBytes: 32 * 1024 * 1024, deadlineMs: 600_000 }

/** (failover.md row 13, A cut) */
export const defaultFailover: FailoverConfig = {
  onContentPolicy: 'stop',
  onCut: 'resume',
  hold: 'calls',
  retryBilled: false,
}

/** A provider that does not differ from the common format. */
export const noQuirks: Quirks = {
  reportsCost: false,
  isFree: false,
  formats: [],
}

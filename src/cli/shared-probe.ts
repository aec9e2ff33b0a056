import type { Probe } from '../config/detect.ts'
import { probeModels } from '../config/probe.ts'

/**
 * Asks each local port once, for all workers: they start one after the other, and would find what answers at different
 * moments.
 */
export interface SharedProbe {
  readonly probe: Probe
  /** Asks anew from now on. */
  forget(): void
}

/** Nothing has been asked yet. */
export function sharedProbe(ask: Probe = probeModels): SharedProbe {
  const asked = new Map<number, ReturnType<Probe>>()
  return {
    probe(port) {
      const answer = asked.get(port) ?? ask(port)
      asked.set(port, answer)
      return answer
    },
    forget: () => asked.clear(),
  }
}

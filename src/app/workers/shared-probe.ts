import type { Probe } from '../../config/detect.ts'
import { probeModels } from '../../config/probe.ts'

/** Asks each local port once for all workers, which start one after the other and must find the same servers. */
export interface SharedProbe {
  readonly probe: Probe
  /** Clears the cached answers. */
  forget(): void
}

/** A probe with an empty cache. */
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

import { cpuFigures } from '../cpu.ts'
import { rateLoad } from '../load.ts'
import type { Measure, RateName } from './measure.ts'

const settleUs = 300_000
/** Connections beyond this are not opened: the proxy does not keep the rate. */
const inFlightMax = 256

const perSecondOf: Readonly<Record<RateName, number>> = { 'rate-100': 100, 'rate-1000': 1000, 'rate-3000': 3000 }

/**
 * CPU time for a plain request, and its duration from the scheduled time, at a fixed rate: requests are sent on
 * schedule, whether or not earlier ones are answered.
 */
export function rate(name: RateName): Measure {
  const perSecond = perSecondOf[name]
  return {
    name,
    includesDirect: true,
    peersOnce: false,
    needsStreams: false,
    warmUp: 'requests',
    async run(contender, _round, { seconds, loadCore }) {
      const load = { perSecond, settleUs, lengthUs: seconds * 1e6, inFlightMax }
      const { window, ...outcome } = await rateLoad(
        contender,
        contender.pid === undefined ? load : { ...load, pid: contender.pid },
        loadCore,
      )
      return {
        ...cpuFigures(window, outcome.answersInWindow),
        keptPercent: (outcome.answersInWindow / outcome.scheduled) * 100,
        p50Us: outcome.p50Us,
        p99Us: outcome.p99Us,
        sendP50Us: outcome.sendP50Us,
        late: outcome.late,
        missing: outcome.unsent + outcome.unanswered,
      }
    },
  }
}

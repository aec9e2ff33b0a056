import { cpuFigures } from '../cpu.ts'
import { plainLoadUntil, rateLoad, type LoadTarget } from '../load.ts'
import { ProgramError } from '../processes.ts'
import { freshRequests } from '../warm-up.ts'
import { serviceName, type Measure } from './measure.ts'

const rate = { perSecond: 1000, settleUs: 300_000, inFlightMax: 256 }

/**
 * CPU time for a plain request at 1,000 a second, of a new process with 50,000 requests behind it, and of an old one
 * with 300,000 more.
 */
export const aged: Measure = {
  name: 'aged',
  includesDirect: false,
  only: [serviceName, 'svc-before', 'serve-raw'],
  roundsMax: 3,
  peersOnce: true,
  needsStreams: false,
  warmUp: 'age',
  async run(contender, _round, { seconds, loadCore, startFresh }) {
    const cpuUs = async (target: LoadTarget, pid: number | undefined): Promise<number> => {
      if (pid === undefined) throw new ProgramError(`${target.name} has no process`)
      const outcome = await rateLoad(target, { ...rate, lengthUs: seconds * 1e6, pid }, loadCore)
      return cpuFigures(outcome.window, outcome.answersInWindow)['cpuUs'] ?? Number.NaN
    }
    const fresh = await startFresh(contender.name)
    try {
      const target = { ...fresh, name: contender.name }
      await plainLoadUntil(target, freshRequests, loadCore)
      return {
        freshCpuUs: await cpuUs(target, fresh.program.pid),
        agedCpuUs: await cpuUs(contender, contender.pid),
      }
    } finally {
      await fresh.program.stop()
    }
  },
}

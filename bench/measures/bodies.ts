import { bodyLoad } from '../load.ts'
import { peakResidentMb } from '../memory.ts'
import type { Measure } from './measure.ts'

const bodies = { connections: 1500, bodyBytes: 150_000, holdUs: 3_000_000, secondsMax: 60 }

/** Memory limit, MB: a proxy above it is ended, and its figure is "more than". */
export const bodiesMemoryMax = 12_000

/**
 * Resident memory of a new process with 1,500 requests of 150 KB at once, each answered after 3 s, and the number of
 * answers.
 */
export const bodies150: Measure = {
  name: 'bodies',
  includesDirect: false,
  peersOnce: true,
  needsStreams: false,
  async run(contender, _round, { loadCore, startFresh }) {
    const fresh = await startFresh(contender.name)
    try {
      let outcome: Awaited<ReturnType<typeof bodyLoad>> | undefined
      const endIfTooMuch = (mb: number): void => {
        if (mb > bodiesMemoryMax) process.kill(fresh.program.pid, 'SIGKILL')
      }
      const work = async (): Promise<void> =>
        void (outcome = await bodyLoad({ ...fresh, name: contender.name }, bodies, loadCore))
      const peakMb = Math.min(await peakResidentMb(fresh.program.pid, work, 50, endIfTooMuch), bodiesMemoryMax)
      const { answered = 0, refused = 0, failed = 0, unfinished = 0, elapsedUs = 0 } = outcome ?? {}
      return { peakMb, answered, refused, failed, unfinished, seconds: elapsedUs / 1e6 }
    } finally {
      await fresh.program.stop()
    }
  },
}

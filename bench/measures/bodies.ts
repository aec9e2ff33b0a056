import { bodyLoad } from '../load.ts'
import { peakResidentMb } from '../memory.ts'
import type { Measure } from './measure.ts'

const bodies = { connections: 1500, bodyBytes: 150_000, holdUs: 3_000_000, secondsMost: 60 }

/** More than this, MB, is not waited for: the proxy is ended, and the figure says "more than". */
export const bodiesMemoryMost = 12_000

/**
 * Resident memory of a fresh process that gets 1,500 requests of 150 KB at once, each answered after 3 s; and how many
 * of them it answers.
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
        if (mb > bodiesMemoryMost) process.kill(fresh.program.pid, 'SIGKILL')
      }
      const work = async (): Promise<void> =>
        void (outcome = await bodyLoad({ ...fresh, name: contender.name }, bodies, loadCore))
      const peakMb = Math.min(await peakResidentMb(fresh.program.pid, work, 50, endIfTooMuch), bodiesMemoryMost)
      const { answered = 0, refused = 0, failed = 0, unfinished = 0, elapsedUs = 0 } = outcome ?? {}
      return { peakMb, answered, refused, failed, unfinished, seconds: elapsedUs / 1e6 }
    } finally {
      await fresh.program.stop()
    }
  },
}

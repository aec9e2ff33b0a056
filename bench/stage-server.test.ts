import { expect, test } from 'bun:test'
import { startField } from './field.ts'
import type { RunningProgram } from './processes.ts'
import { stageProxy } from './proxies/stage.ts'
import { stageNames } from './stage-names.ts'
import { closeWorkshop, openWorkshop } from './workshop.ts'

const isLinux = process.platform === 'linux' && Bun.which('taskset') !== null

test.skipIf(!isLinux)(
  'every stage answers requests and passes on streams',
  async () => {
    const programs: RunningProgram[] = []
    const workshop = await openWorkshop(programs)
    try {
      const { contenders, notes } = await startField(stageNames.map(stageProxy), new Set(), workshop, false)
      expect(notes).toEqual([])
      expect(contenders.map(({ name }) => name)).toEqual(['direct', ...stageNames])
    } finally {
      await closeWorkshop(workshop.directory, programs)
    }
  },
  // A busy machine starts the programs slowly.
  120_000,
)

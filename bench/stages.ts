/**
 * `npm run bench:stages -- [ROUNDS]`: what each piece of svc costs, from a raw relay up. Each stage is a process, and
 * all are measured in turn: requests at 1,000 a second, and chunks of 64 streams at 20 ms.
 */
import { startField } from './field.ts'
import { processorTicks, stealPercent } from './machine.ts'
import type { MeasureSetting } from './measures/measure.ts'
import { paced } from './measures/paced.ts'
import { rate } from './measures/rate.ts'
import { missingPrograms } from './programs.ts'
import { stageProxy } from './proxies/stage.ts'
import { runMeasure } from './rounds.ts'
import { stageNames } from './stage-names.ts'
import { stageTable } from './stage-table.ts'
import { warmUps } from './warm-up.ts'
import { inWorkshop, type Workshop } from './workshop.ts'

const seconds = 2
const measured = [
  { measure: rate('rate-1000'), each: 'request' },
  { measure: paced('paced-64'), each: 'chunk' },
]

/** Measures all stages. Prints a table for each measure, then failures. */
async function measureStages(rounds: number, workshop: Workshop): Promise<void> {
  const missing = await missingPrograms(new Set(['wrk']))
  if (missing.size > 0) throw new Error('wrk is missing: it warms up the stages')
  const ticks = processorTicks()
  const { contenders, notes } = await startField(stageNames.map(stageProxy), missing, workshop, false)
  const unused = (): Promise<never> => Promise.reject(new Error('stages are started once'))
  const loadCore = workshop.cores.load
  const setting: MeasureSetting = {
    seconds,
    loadCore,
    warmUp: warmUps(loadCore),
    startFresh: unused,
    launch: unused,
  }
  const failures = [...notes]
  for (const { measure, each } of measured) {
    const outcome = await runMeasure({ ...measure, includesDirect: false }, contenders, rounds, setting)
    console.log(`\n${stageTable(measure.name, each, outcome.measurements)}`)
    failures.push(...outcome.notes)
  }
  const steal = stealPercent(ticks, processorTicks()).toFixed(1)
  console.log(`\nMedians of ${rounds} rounds of ${seconds} s (least–most). Taken by the host: ${steal} %.`)
  for (const failure of failures) console.log(`- ${failure}`)
}

const rounds = Number(process.argv[2] ?? 5)
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`rounds: found '${process.argv[2]}', allowed: 1 or more`)
await inWorkshop((workshop) => measureStages(rounds, workshop))

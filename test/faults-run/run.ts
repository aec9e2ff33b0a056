import { areas } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { allFaults } from './faults.ts'
import { writeTable } from './report.ts'
import { runFaults } from './runner.ts'
import type { Outcome } from './runner.ts'

const help = `npm run faults [-- OPTIONS]: brings about every fault there is, on the real process, and looks at what clients and providers saw and at what is left behind.

  --only NAME   faults of an area (${areas.join(', ')}), or the one of this id; may be repeated
  --short       the quick ones that npm test runs
  --list        say which there are, and try none
  --write       put the table of what happened into docs/reliability.md (a run of all of them)
  --help        this

Exits with 1 when something did not hold, with 2 for an unknown option.`

interface Asked {
  readonly only: readonly string[]
  readonly isShort: boolean
  readonly isList: boolean
  readonly isWrite: boolean
}

/** @throws a sentence for whoever typed it */
function understand(given: readonly string[]): Asked {
  const only: string[] = []
  const flags = new Set<string>()
  for (let at = 0; at < given.length; at++) {
    const flag = given[at] ?? ''
    if (flag === '--only') only.push(given[++at] ?? '')
    else if (['--short', '--list', '--write'].includes(flag)) flags.add(flag)
    else throw new Error(`unknown option ${flag}`)
  }
  const unknown = only.find((name) => !allFaults.some(({ id, area }) => id === name || area === name))
  if (unknown !== undefined) throw new Error(`there is no area or fault ${JSON.stringify(unknown)}; --list names them`)
  return { only, isShort: flags.has('--short'), isList: flags.has('--list'), isWrite: flags.has('--write') }
}

function chosen({ only, isShort }: Asked): readonly FaultCase[] {
  return allFaults.filter(
    (fault) =>
      (only.length === 0 || only.includes(fault.id) || only.includes(fault.area)) &&
      (!isShort || fault.isShort === true),
  )
}

function tell({ fault, kind, words, ms }: Outcome): void {
  const sign = { held: 'held  ', failed: 'FAILED', impossible: 'not possible here' }[kind]
  console.log(
    `${sign} ${fault.area}/${fault.id}${kind === 'impossible' ? '' : ` (${(ms / 1_000).toFixed(1)} s)`}: ${words}`,
  )
}

async function main(given: readonly string[]): Promise<number> {
  if (given.includes('--help')) {
    console.log(help)
    return 0
  }
  const asked = understand(given)
  const faults = chosen(asked)
  if (asked.isList) {
    for (const { area, id, what } of faults) console.log(`${area}/${id}: ${what}`)
    return 0
  }
  const outcomes = await runFaults(faults, tell)
  const count = (wanted: Outcome['kind']) => outcomes.filter(({ kind }) => kind === wanted).length
  console.log(`${count('held')} held, ${count('failed')} failed, ${count('impossible')} not possible here`)
  if (asked.isWrite) await writeTable(outcomes)
  return count('failed') === 0 ? 0 : 1
}

// So that what was started and made is ended and undone.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}

import { areas, type FaultCase } from './fault-case.ts'
import { allFaults } from './faults.ts'
import { writeTable } from './report.ts'
import { runFaults, type Outcome } from './runner.ts'

const help = `npm run faults [-- OPTIONS]: injects faults into a running service, and checks the answers of clients,
the requests at providers, and that nothing is left behind.

  --only NAME   one area (${areas.join(', ')}), or one fault by its id; may be repeated
  --short       only the quick faults that npm test runs
  --list        list the faults, and run none
  --write       write the table of outcomes into lab/faults/outcomes.md (after a run of all faults)
  --help        this help

Exit code 1 when a fault failed, 2 for an unknown option.`

interface Asked {
  readonly only: readonly string[]
  readonly isShort: boolean
  readonly isList: boolean
  readonly isWrite: boolean
}

/** Parses the command line. @throws with a message for the user */
function parseArguments(given: readonly string[]): Asked {
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

function print({ fault, kind, words, ms }: Outcome): void {
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
  const asked = parseArguments(given)
  const faults = chosen(asked)
  if (asked.isList) {
    for (const { area, id, what } of faults) console.log(`${area}/${id}: ${what}`)
    return 0
  }
  const outcomes = await runFaults(faults, print)
  const count = (wanted: Outcome['kind']) => outcomes.filter(({ kind }) => kind === wanted).length
  console.log(`${count('held')} held, ${count('failed')} failed, ${count('impossible')} not possible here`)
  if (asked.isWrite) await writeTable(outcomes)
  return count('failed') === 0 ? 0 : 1
}

// `exit` handlers end processes and remove mounts and networks.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}

import { errorFacts, faultOf } from '../src/protocols/error-corpus-testing.ts'
import { wireFacts, wireFault } from '../src/protocols/wire-corpus-testing.ts'

/**
 * `npm run corpus [PART …]` runs the facts of test/corpus/ and prints the ones that come out wrong; it exits with 1 if
 * any does (docs/contributing/refusals.md, docs/contributing/quirk.md). Without a part all run.
 */

/** Each part prints its wrong facts and returns their number. */
const parts: Readonly<Record<string, () => Promise<number>>> = { errors, wire }

async function errors(): Promise<number> {
  const facts = errorFacts()
  let wrong = 0
  for (const fact of facts) {
    const fault = await faultOf(fact)
    if (fault === undefined) continue
    wrong += 1
    console.log(`${fact.id} ${fact.brand} ${fact.status}: ${fault}\n  ${fact.body.slice(0, 200)}`)
  }
  console.log(`errors: ${facts.length} facts, ${wrong} wrong`)
  return wrong
}

async function wire(): Promise<number> {
  const facts = wireFacts()
  const faults = facts.flatMap((fact) => wireFault(fact)?.replace(/^/, `${fact.id}: `) ?? [])
  for (const fault of faults) console.log(fault)
  console.log(`wire: ${facts.length} facts, ${faults.length} wrong`)
  return faults.length
}

const asked = Bun.argv.slice(2)
for (const name of asked.length === 0 ? Object.keys(parts) : asked) {
  const run = Object.hasOwn(parts, name) ? parts[name] : undefined
  if (run === undefined) {
    console.error(`there is no part '${name}'; there are: ${Object.keys(parts).join(', ')}`)
    process.exit(2)
  }
  if ((await run()) > 0) process.exitCode = 1
}

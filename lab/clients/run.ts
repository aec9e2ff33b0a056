import { formats } from '../../src/formats/format-list.ts'
import { coders, runCoder, runOutages } from './coders.ts'
import { installNode, installPython } from './install.ts'
import { libraries, runLibrary } from './libraries.ts'
import { mocksOf } from './mocks.ts'
import { reportOf, type Verdict } from './report.ts'

/**
 * `npm run clients [-- [outages] NAME…]`: runs real client programs over providers of each format, of which the first
 * fails, and prints what worked (lab/clients/README.md). Names choose programs that contain one of them.
 */
const [first, ...others] = process.argv.slice(2)
/** Programs that write code meet an outage of all providers; nothing else runs. */
const isOutage = first === 'outages'
const wanted = first === undefined || isOutage ? others : [first, ...others]
/** Of the steps at which a provider fails. */
const seed = Number(process.env['SVC_CLIENTS_SEED'] ?? Date.now() % 1_000_000)

installNode()
const verdicts: Verdict[] = []
const isWanted = ({ name }: { readonly name: string }) =>
  wanted.length === 0 || wanted.some((word) => name.toLowerCase().includes(word.toLowerCase()))
function report(verdict: Verdict): void {
  verdicts.push(verdict)
  const { program, provider, scenario, reason } = verdict
  if (reason !== undefined) console.error(`${program} × ${provider} × ${scenario}: ${reason}`)
}
const spoken = Object.keys(formats)
for (const coder of isOutage ? coders.filter(isWanted) : []) {
  console.error(coder.name)
  await runOutages(coder, report)
}
for (const program of isOutage ? [] : [...libraries, ...coders].filter(isWanted)) {
  if (!spoken.includes(program.speaks)) {
    console.error(`${program.name}: not run, since svc does not speak ${program.speaks} to callers`)
    continue
  }
  if (program.name.startsWith('Python') && !installPython()) continue
  console.error(program.name)
  if ('command' in program) await runLibrary(program, report)
  else await runCoder(program, seed, report)
}
for (const mock of isOutage ? [] : mocksOf(process.env['SVC_CLIENTS_OPENAPI']).filter(isWanted)) {
  console.error(mock.name)
  await mock.run(report)
}
console.log(`${reportOf(verdicts)}SVC_CLIENTS_SEED=${seed}`)
process.exit(verdicts.some(({ reason }) => reason !== undefined) ? 1 : 0)

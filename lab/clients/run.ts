import { formats } from '../../src/formats/format-list.ts'
import { coders, runCoder, runOutages, runTemplates } from './coders.ts'
import { installNode, installPython, versions } from './install.ts'
import { libraries, runLibrary } from './libraries.ts'
import { mocksOf } from './mocks.ts'
import { reportOf, type Verdict } from './report.ts'

/**
 * `npm run clients [-- [outages|templates] NAME…]`: runs real client programs over providers of each format, of which
 * the first fails, and prints what worked (lab/clients/README.md). Names choose programs that contain one of them.
 */
const [first, ...others] = process.argv.slice(2)
/** Programs that write code meet an outage of all providers, or the templates of models; nothing else runs. */
const only = first === 'outages' || first === 'templates' ? first : undefined
const wanted = first === undefined || only !== undefined ? others : [first, ...others]
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
for (const coder of only === undefined ? [] : coders.filter(isWanted)) {
  if (only === 'templates' && !installPython()) break
  console.error(coder.name)
  await (only === 'outages' ? runOutages : runTemplates)(coder, report)
}
for (const program of only !== undefined ? [] : [...libraries, ...coders].filter(isWanted)) {
  if (!spoken.includes(program.speaks)) {
    console.error(`${program.name}: not run, since svc does not speak ${program.speaks} to callers`)
    continue
  }
  if (program.name.startsWith('Python') && !installPython()) continue
  console.error(program.name)
  if ('command' in program) await runLibrary(program, report)
  else await runCoder(program, seed, report)
}
for (const mock of only !== undefined ? [] : mocksOf(process.env['SVC_CLIENTS_OPENAPI']).filter(isWanted)) {
  console.error(mock.name)
  await mock.run(report)
}
console.log(`${reportOf(verdicts)}With ${await versions()}\nSVC_CLIENTS_SEED=${seed}`)
process.exit(verdicts.some(({ reason }) => reason !== undefined) ? 1 : 0)

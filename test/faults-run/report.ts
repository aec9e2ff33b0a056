import { readFileSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json'
import { areas } from './fault-case.ts'
import type { Area } from './fault-case.ts'
import type { Outcome } from './runner.ts'

const document = join(import.meta.dir, '..', '..', 'docs', 'reliability.md')
const opening = '<!-- faults -->',
  ending = '<!-- end of faults -->'

const titles: Readonly<Record<Area, string>> = {
  network: 'In the network',
  link: 'In the network, by way of the kernel',
  protocol: 'At the provider',
  client: 'At the client',
  process: 'In the process and its machine',
  configuration: 'In the configuration',
  store: 'In the store',
  workers: 'In the workers',
}

/** Puts what happened into docs/reliability.md, between its two marks. @throws when they are not there */
export async function writeTable(outcomes: readonly Outcome[]): Promise<void> {
  const text = readFileSync(document, 'utf8')
  const from = text.indexOf(opening),
    to = text.indexOf(ending)
  if (from === -1 || to === -1) throw new Error(`docs/reliability.md lacks ${opening} or ${ending}`)
  writeFileSync(document, `${text.slice(0, from + opening.length)}\n${table(outcomes, new Date())}\n${text.slice(to)}`)
}

/** What happened, as Markdown: one table an area. */
export function table(outcomes: readonly Outcome[], date: Date): string {
  const count = (wanted: Outcome['kind']) => outcomes.filter(({ kind }) => kind === wanted).length
  const day = date.toISOString().slice(0, 10)
  const summary = `Made by \`npm run faults -- --write\` on ${day}: svc ${manifest.version}, Bun ${Bun.version}, Linux ${release().split('-')[0]}. Of ${outcomes.length} faults ${count('held')} were held out against, ${count('failed')} were not, and ${count('impossible')} could not be made on that machine.`
  const parts = areas.flatMap((area) => {
    const rows = outcomes.filter(({ fault }) => fault.area === area)
    return rows.length === 0
      ? []
      : [`### ${titles[area]}\n\n| Fault | What happened |\n|---|---|\n${rows.map(row).join('\n')}`]
  })
  return [summary, ...parts].join('\n\n')
}

function row({ fault, kind, words }: Outcome): string {
  const said = { held: words, failed: `**did not hold**: ${words}`, impossible: `not possible here: ${words}` }[kind]
  return `| ${cell(fault.what)} | ${cell(said)} |`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

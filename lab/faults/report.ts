import { readFileSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json'
import { areas, type Area } from './fault-case.ts'
import type { Outcome } from './runner.ts'

const document = join(import.meta.dir, 'outcomes.md')
const opening = '<!-- faults -->',
  ending = '<!-- end of faults -->'

const titles: Readonly<Record<Area, string>> = {
  network: 'In the network',
  link: 'In the network, with help of the kernel',
  protocol: 'At the provider',
  client: 'At the client',
  process: 'In the process and its machine',
  configuration: 'In the configuration',
  store: 'In the store',
  workers: 'In the workers',
}

/** Writes the table of outcomes into lab/faults/outcomes.md, between its two marks. @throws when a mark is missing */
export async function writeTable(outcomes: readonly Outcome[]): Promise<void> {
  const text = readFileSync(document, 'utf8')
  const from = text.indexOf(opening),
    to = text.indexOf(ending)
  if (from === -1 || to === -1) throw new Error(`lab/faults/outcomes.md lacks ${opening} or ${ending}`)
  writeFileSync(document, `${text.slice(0, from + opening.length)}\n${table(outcomes, new Date())}\n${text.slice(to)}`)
}

/** Outcomes as Markdown: one table for each area. */
export function table(outcomes: readonly Outcome[], date: Date): string {
  const count = (wanted: Outcome['kind']) => outcomes.filter(({ kind }) => kind === wanted).length
  const day = date.toISOString().slice(0, 10)
  const versions = `svc ${manifest.version}, Bun ${Bun.version}, Linux ${release().split('-')[0]}`
  const counts = `${count('held')} held, ${count('failed')} failed, ${count('impossible')} not possible on that machine`
  const summary = `Made by \`npm run faults -- --write\` on ${day}: ${versions}. ${outcomes.length} faults: ${counts}.`
  const parts = areas.flatMap((area) => {
    const rows = outcomes.filter(({ fault }) => fault.area === area)
    return rows.length === 0
      ? []
      : [`## ${titles[area]}\n\n| Fault | What happened |\n|---|---|\n${rows.map(row).join('\n')}`]
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

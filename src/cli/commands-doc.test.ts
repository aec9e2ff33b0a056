import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { commands } from './commands.ts'
import { commandHelp, programHelp } from './help.ts'

const path = new URL('../../docs/commands.md', import.meta.url).pathname
const all = await Promise.all(commands.map((entry) => entry.load()))

/** Titles, usual flags and usual exit codes are said once, at the head of the page. */
function withoutUsual(help: string): string {
  return help
    .replace(/^svc .*\n\n/, '')
    .replace(/^ {2}-h, --help +print this help\n/m, '')
    .replace(/^ {2}--json +print JSON instead of a table\n/m, '')
    .replace(/^ {2}--(?:config FILE +provider file to use|url URL +running service, such)[^]*?SVC_\w+\)\n/m, '')
    .replace(/^Flags:\n\n/m, '')
    .replace(/^Exit codes:\n {2}0 +done\n {2}1 +failed\n {2}2 +wrong usage or configuration\n(?: {2}130 .*\n)?\n/m, '')
}

const helps = new Map([
  ['svc', programHelp(all)],
  ...all.map((command) => [`svc ${command.name}`, withoutUsual(commandHelp(command))] as const),
])

/** `UPDATE_DOCS=1` writes the help into docs/commands.md instead of comparing it. */
function update(text: string): string {
  return text.replace(/^(## `(svc[ a-z]*)`\n[^]*?```text\n)[^]*?(?=```\n)/gm, (whole, before: string, name: string) =>
    helps.has(name) ? before + helps.get(name) : whole,
  )
}

if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, update(readFileSync(path, 'utf8')))
const document = readFileSync(path, 'utf8')

describe('docs/commands.md', () => {
  test.each([...helps])('shows the help of `%s` (UPDATE_DOCS=1 writes it)', (name, help) => {
    const section = document.split(/^## /m).find((each) => each.startsWith(`\`${name}\`\n`))
    expect(/```text\n([^]*?)```\n/.exec(section ?? '')?.[1]).toBe(help)
  })

  test('has no section for a command that does not exist', () => {
    const sections = Array.from(document.matchAll(/^## `(.*)`$/gm), (match) => match[1] ?? '')
    expect(sections).toEqual([...helps.keys()])
  })

  test('names exactly the environment variables that set flags', () => {
    const variables = new Set(
      all.flatMap((command) => Object.values(command.flags).flatMap(({ environment }) => environment ?? [])),
    )
    const listed = Array.from(document.matchAll(/^\| `(SVC_[A-Z_]+)` \|/gm), (match) => match[1] ?? '')
    expect(
      listed
        .filter((name) => !['SVC_HOME', 'SVC_CACHE', 'SVC_CORS_ORIGINS', 'SVC_TOKEN', 'SVC_DATABASE'].includes(name))
        .toSorted(),
    ).toEqual([...variables].toSorted())
  })
})

describe('the commands', () => {
  test.each(all)('follow the rules: $name', (command) => {
    expect(commands.some(({ name }) => name === command.name)).toBe(true)
    expect(command.summary).not.toMatch(/\.$/)
    expect(command.examples.length).toBeGreaterThan(0)
    const shorts = Object.values(command.flags).flatMap(({ short }) => short ?? [])
    expect(new Set(shorts).size).toBe(shorts.length)
    expect(shorts).not.toContain('h')
    expect(
      Math.max(
        ...commandHelp(command)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(120)
    for (const { environment, summary } of Object.values(command.flags)) {
      expect(environment ?? 'SVC_').toStartWith('SVC_')
      expect(summary).not.toMatch(/\.$/)
    }
  })
})

import { formatTable } from '../../src/cli/terminal.ts'

/** How one scenario of a program ended. */
export interface Verdict {
  readonly program: string
  /** Format of the providers. */
  readonly provider: string
  readonly scenario: string
  /** Why it failed; absent if it did not. */
  readonly reason: string | undefined
  /** More about it, for the table. */
  readonly note?: string
}

/** A table of the verdicts: a row for each program and provider, a column for each scenario; then the reasons. */
export function reportOf(verdicts: readonly Verdict[]): string {
  const columns = [...new Set(verdicts.map(({ scenario }) => scenario))]
  const rows = Map.groupBy(verdicts, ({ program, provider }) => `${program}\n${provider}`)
  const table = formatTable(
    ['program', 'provider', ...columns].map((title) => ({ title })),
    Array.from(rows, ([name, all]) => [
      ...name.split('\n'),
      ...columns.map((column) => {
        const found = all.find(({ scenario }) => scenario === column)
        if (found === undefined) return ''
        const { reason, note } = found
        return `${reason === undefined ? 'ok' : 'FAIL'}${note === undefined ? '' : ` (${note})`}`
      }),
    ]),
    (_style, text) => text,
    Infinity,
  )
  const failures = verdicts.filter(({ reason }) => reason !== undefined)
  const reasons = failures.map(
    ({ program, provider, scenario, reason }) => `${program} × ${provider} × ${scenario}: ${reason}\n`,
  )
  return `${table}\n${verdicts.length - failures.length} passed, ${failures.length} failed\n${reasons.join('')}`
}

import { existsSync } from 'node:fs'
import { ledgerPlace, openLedgerAt } from '../app/ledger-place.ts'
import { useTeams } from '../app/use-of-people.ts'
import { booleanFlag, choiceFlag, integerFlag, show, textFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { paintFor } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import type { UsageEntry } from '../http/page/page-api.ts'
import { outcomesOf } from '../http/page/usage-api.ts'
import { dayNumber, usageAnswer } from '../http/page/usage-entries.ts'
import type { LedgerPlace } from '../ledger/ledger-place.ts'
import type { UseQuestion, UseTeam } from '../ledger/use/use-question.ts'
import { jsonFlag } from './flags.ts'
import { formatTable } from './terminal.ts'

const dayMs = 86_400_000
const rowsMax = 1_000_000

const flags = {
  days: integerFlag('last days, with today', 'DAYS', { minimum: 1, maximum: 3_660, fallback: 7 }),
  by: choiceFlag('what the use is grouped by', ['model', 'provider', 'person', 'team', 'key', 'session', 'day'], {
    placeholder: 'NAME',
    fallback: 'model',
  }),
  since: textFlag('reprice: first date (UTC), such as 2026-11-01', 'DATE'),
  model: textFlag('reprice: only requests for this model', 'NAME', { otherwise: 'all' }),
  dryRun: booleanFlag('reprice: show what would change, and write nothing'),
  json: jsonFlag,
}

/** `svc usage` (docs/ledger.md). It reads the database of this machine, with or without a running service. */
export const usageCommand: Command<typeof flags> = {
  name: 'usage',
  summary: 'show what was used and what it cost',
  flags,
  arguments: {
    usage: '[reprice]',
    summary: 'reprice: compute stored costs anew with the prices of now, and move the sums',
    maximum: 1,
  },
  examples: [
    { command: 'svc usage', does: 'requests, tokens and cost of the last 7 days, by model' },
    { command: 'svc usage --days 30 --by key', does: 'the same for 30 days, by key' },
    { command: 'svc usage --days 90 --by day --json', does: 'days of a quarter, as JSON' },
    { command: 'svc usage reprice --since 2026-11-01 --dry-run', does: 'what the prices of now would change' },
  ],
  run,
}

async function run(context: CommandContext<typeof flags>): Promise<number> {
  const { positionals, flags: given } = context
  const [word] = positionals
  if (word === 'reprice') {
    const { reprice } = await import('./reprice.ts')
    return await reprice(given, context)
  }
  if (word !== undefined) throw new UsageError(`found ${show(word)}, allowed: svc usage, svc usage reprice`)
  if (given.since !== undefined || given.model !== undefined || given.dryRun)
    throw new UsageError('--since, --model and --dry-run belong to svc usage reprice')
  return await showUse(context)
}

async function showUse({ flags: given, environment, stdout }: CommandContext<typeof flags>): Promise<number> {
  const place = ledgerPlace(environment)
  if (place.kind === 'file' && !existsSync(place.path))
    throw new Error(`${place.path} does not exist: svc keeps the use when it runs with --auth keys`)
  const by = given.by === 'day' ? 'all' : given.by
  const now = Date.now()
  const question: UseQuestion = {
    unit: 'day',
    by,
    from: dayNumber(now - (given.days - 1) * dayMs),
    to: dayNumber(now + dayMs),
    rowsMax,
    ...(by === 'team' ? { teams: await teamsOf(environment) } : {}),
  }
  const { use, outcomes } = await read(place, question)
  const answer = usageAnswer(question, use, outcomes)
  if (given.json) {
    stdout.write(`${JSON.stringify(answer)}\n`)
    return 0
  }
  const totals = totalsOf(answer.rows, given.by === 'day' ? ({ time }) => time : ({ name }) => name || 'none')
  if (totals.length === 0) {
    stdout.write(`Nothing was used in the last ${given.days === 1 ? 'day' : `${given.days} days`}.\n`)
    return 0
  }
  const hasSaved = totals.some(({ saved }) => saved !== 0)
  const columns = [
    given.by.toUpperCase(),
    'REQUESTS',
    'ERRORS',
    'INPUT',
    'OUTPUT',
    'COST (USD)',
    ...(hasSaved ? ['SAVED (USD)'] : []),
    'NO PRICE',
    'ESTIMATED',
  ]
  stdout.write(
    formatTable(
      columns.map((title, index) => ({ title, align: index === 0 ? 'left' : 'right', shrinks: index === 0 })),
      totals.map((total) => cellsOf(total, hasSaved)),
      paintFor(stdout),
      stdout.isTerminal ? stdout.columns : Infinity,
    ),
  )
  return 0
}

/** The teams of access.json, as it is now. */
async function teamsOf(environment: CommandContext<typeof flags>['environment']): Promise<readonly UseTeam[]> {
  const { loadAccess } = await import('../config/file/parse-access.ts')
  const { teams } = await loadAccess(environment)
  return useTeams(teams)
}

async function read(place: LedgerPlace, question: UseQuestion) {
  // An older database is migrated first, as by svc keys.
  const ledger = await openLedgerAt(place)
  await ledger.close()
  const { openUseReaderAt } = await import('../ledger/use/open-use.ts')
  const reader = await openUseReaderAt(place)
  try {
    return { use: await reader.read(question), outcomes: await reader.outcomes(outcomesOf(question)) }
  } finally {
    await reader.close()
  }
}

type Total = Pick<
  UsageEntry,
  'requests' | 'errors' | 'inputTokens' | 'outputTokens' | 'cost' | 'saved' | 'unpriced' | 'estimated'
> & {
  readonly name: string
}

/** Sums by group, the dearest first and the sum of all last; days in their order. */
function totalsOf(rows: readonly UsageEntry[], groupOf: (entry: UsageEntry) => string): readonly Total[] {
  const groups = Map.groupBy(rows, groupOf)
  const totals = Array.from(groups, ([name, entries]) => totalOf(name, entries))
  const sorted = totals.toSorted((one, other) => other.cost - one.cost || other.requests - one.requests)
  return totals.length < 2 ? sorted : [...sorted, totalOf('total', rows)]
}

function totalOf(name: string, entries: readonly UsageEntry[]): Total {
  const sum = (pick: (entry: UsageEntry) => number): number => entries.reduce((all, entry) => all + pick(entry), 0)
  return {
    name,
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    inputTokens: sum((each) => each.inputTokens + each.cachedTokens + each.cacheWriteTokens),
    outputTokens: sum((each) => each.outputTokens + each.reasoningTokens),
    cost: sum(({ cost }) => cost),
    saved: sum(({ saved }) => saved),
    unpriced: sum(({ unpriced }) => unpriced),
    estimated: sum(({ estimated }) => estimated),
  }
}

/** @param hasSaved caches saved something in one of the rows */
function cellsOf({ name, cost, saved, unpriced, estimated, ...counted }: Total, hasSaved: boolean): string[] {
  const { requests, errors, inputTokens, outputTokens } = counted
  const counts = [requests, errors, inputTokens, outputTokens].map(String)
  return [
    name,
    ...counts,
    cost.toFixed(4),
    ...(hasSaved ? [saved.toFixed(4)] : []),
    String(unpriced),
    String(estimated),
  ]
}

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ledgerPlace, requireDatabase } from '../app/ledger-place.ts'
import { booleanFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { UsageError } from '../base/start-errors.ts'
import { historyPath } from '../ledger/history/open-history.ts'

const flags = {
  requests: booleanFlag('copy the list of requests, too, into FILE-requests'),
  history: booleanFlag('copy the conversations of people instead (history.db)'),
}

/** `svc backup FILE` (docs/keys.md). It copies the database of this machine, with or without a running service. */
export const backupCommand: Command<typeof flags> = {
  name: 'backup',
  summary: 'copy the database of keys, use and changes into a file',
  flags,
  arguments: { usage: 'FILE', summary: 'the new file; an existing one is not overwritten', maximum: 1 },
  examples: [
    { command: 'svc backup /backup/svc.db', does: 'a copy as of now, which only you may read' },
    { command: 'svc backup --requests /backup/svc.db', does: 'the single requests, too, in /backup/svc.db-requests' },
  ],
  run,
}

async function run({
  positionals: [file],
  flags: { requests, history },
  environment,
  stdout,
}: CommandContext<typeof flags>) {
  if (file === undefined || file === '') throw new UsageError('FILE is missing: svc backup FILE')
  const place = ledgerPlace(environment)
  if (place.kind === 'server')
    throw new UsageError('the database is in PostgreSQL (SVC_DATABASE): copy it with pg_dump -Fc --schema=svc')
  const { path } = place
  const target = resolve(file)
  if (history && requests) throw new UsageError('--requests and --history need a FILE each')
  const pairs: [string, string][] = [[history ? historyPath(path) : path, target]]
  if (requests) pairs.push([join(dirname(path), 'requests.db'), `${target}-requests`])
  for (const [from, to] of pairs) {
    if (history && !existsSync(from)) throw new Error(`${from} does not exist: no conversations are stored`)
    requireDatabase(from)
    if (existsSync(to)) throw new Error(`${to} exists: name a new file`)
  }
  const { backUp } = await import('../ledger/back-up.ts')
  for (const [from, to] of pairs) {
    await backUp(from, to)
    stdout.write(`${to}\n`)
  }
  return 0
}

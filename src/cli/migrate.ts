import { ledgerPlace, openLedgerAt, requireDatabase } from '../app/ledger-place.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { UsageError } from '../base/start-errors.ts'
import { findHome } from '../config/home.ts'
import { nameOfServer } from '../ledger/ledger-place.ts'

const flags = {}

/** `svc migrate` (docs/postgresql.md). */
export const migrateCommand: Command<typeof flags> = {
  name: 'migrate',
  summary: 'copy svc.db into the empty PostgreSQL database of SVC_DATABASE',
  flags,
  examples: [
    {
      command: 'SVC_DATABASE=/run/secrets/svc-database svc migrate',
      does: 'keys, changes and sums of use; svc.db stays as it is',
    },
  ],
  run,
}

async function run({ environment, stdout }: CommandContext<typeof flags>): Promise<number> {
  const place = ledgerPlace(environment)
  if (place.kind === 'file')
    throw new UsageError('SVC_DATABASE is not set: it names the PostgreSQL database to be filled')
  const path = requireDatabase(findHome(environment).ledger)
  // Both get the schema of this version first.
  for (const each of [{ kind: 'file', path } as const, place]) await (await openLedgerAt(each)).close()
  const { postgresClient } = await import('../ledger/postgres/postgres-client.ts')
  const { copyLedger } = await import('../ledger/postgres/copy-ledger.ts')
  const client = postgresClient({ url: place.url })
  const name = nameOfServer(place.url)
  try {
    const { key, audit, usage_hour, usage_day } = await copyLedger(path, client, name)
    stdout.write(`${key} keys, ${audit} changes and ${usage_hour + usage_day} sums were copied into ${name}\n`)
    return 0
  } finally {
    await client.close()
  }
}

import { ledgerPlace, openLedgerAt, requireDatabase } from '../app/ledger-place.ts'
import { integerFlag, show, textFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { paintFor } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import { shownEntry, verifyChain, type ChainReport } from '../ledger/audit-chain.ts'
import type { AuditEntry, AuditTable } from '../ledger/ledger.ts'
import { jsonFlag } from './flags.ts'
import { formatTable } from './terminal.ts'

const flags = {
  limit: integerFlag('entries to list', 'N', { minimum: 1, maximum: 10_000, fallback: 100 }),
  before: integerFlag('list entries with smaller numbers; 0: the newest', 'SEQ', {
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    fallback: 0,
  }),
  expect: textFlag('verify: a chain that was kept elsewhere, which an entry must have', 'CHAIN'),
  json: jsonFlag,
}

type Context = CommandContext<typeof flags>

/** `svc audit` (docs/keys.md). It reads the database of this machine, with or without a running service. */
export const auditCommand: Command<typeof flags> = {
  name: 'audit',
  summary: 'show who changed keys, and verify that no entry was changed',
  flags,
  arguments: {
    usage: '[verify]',
    summary: 'verify: check the chain of all entries; exit code 1 at a fault',
    maximum: 1,
  },
  examples: [
    { command: 'svc audit', does: 'the last 100 changes of keys, newest first' },
    { command: 'svc audit verify', does: 'names entries that were changed, moved or removed' },
    { command: 'svc audit verify --expect "$CHAIN"', does: 'fails if no entry has a chain that you noted before' },
  ],
  run,
}

async function run(context: Context): Promise<number> {
  const action = actionOf(context)
  const place = ledgerPlace(context.environment)
  if (place.kind === 'file') requireDatabase(place.path)
  const ledger = await openLedgerAt(place)
  try {
    return await action(ledger.audit, context)
  } finally {
    await ledger.close()
  }
}

function actionOf({ positionals: [word], flags: given }: Context): typeof list {
  if (word === undefined) {
    if (given.expect !== undefined) throw new UsageError('--expect needs verify: svc audit verify --expect CHAIN')
    return list
  }
  if (word !== 'verify') throw new UsageError(`found ${show(word)}, allowed: svc audit, svc audit verify`)
  if (given.before !== 0 || given.limit !== flags.limit.fallback)
    throw new UsageError('svc audit verify has neither --limit nor --before')
  if (given.expect !== undefined && !/^[0-9a-f]{64}$/.test(given.expect))
    throw new UsageError(`--expect: found ${show(given.expect)}, allowed: 64 digits 0-9 and a-f`)
  return verify
}

async function list(audit: AuditTable, { flags: { limit, before, json }, stdout }: Context): Promise<number> {
  const found = await audit.list(before === 0 ? Number.MAX_SAFE_INTEGER : before, limit)
  const entries = found.map(shownEntry)
  if (json) stdout.write(`${JSON.stringify({ entries })}\n`)
  else if (entries.length === 0) stdout.write('No change of a key is recorded.\n')
  else {
    const columns = ['SEQ', 'TIME', 'ACTOR', 'VIA', 'ACTION', 'OBJECT', 'AFTER'].map((title, index) => ({
      title,
      align: index === 0 ? ('right' as const) : ('left' as const),
      shrinks: title === 'AFTER',
    }))
    const width = stdout.isTerminal ? stdout.columns : Infinity
    stdout.write(formatTable(columns, entries.map(cellsOf), paintFor(stdout), width))
  }
  return 0
}

function cellsOf({ seq, time, actor = 'forgotten', via, action, object, after = '' }: AuditEntry): string[] {
  return [String(seq), timeOf(time), actor, via, action, object, after]
}

/** A changed entry may have any number. */
function timeOf(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms)
}

async function verify(audit: AuditTable, { flags: given, stdout }: Context): Promise<number> {
  const report = await verifyChain(audit, given.expect === undefined ? {} : { expected: given.expect })
  stdout.write(given.json ? `${JSON.stringify(report)}\n` : textOf(report))
  return report.faults.length === 0 ? 0 : 1
}

function textOf({ entries, newest, faults }: ChainReport): string {
  const end = newest === undefined ? '' : `, the newest is ${newest.seq} with chain ${newest.chain}`
  return [...faults, `${entries} entries${end}`].map((line) => `${line}\n`).join('')
}

import { closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ledgerPlace } from '../app/ledger-place.ts'
import { openLedgerAt } from '../app/open-ledger.ts'
import { UsageError } from '../app/start-errors.ts'
import { errorCode } from '../base/error-code.ts'
import type { PersonDatabase } from '../ledger/ledger.ts'
import { exportPerson, recordExport } from '../ledger/people/export-person.ts'
import { findPerson, PersonNotFound, type FoundPerson, type WantedPerson } from '../ledger/people/find-person.ts'
import { forgetPerson } from '../ledger/people/forget-person.ts'
import { harmless } from '../observe/text.ts'
import { booleanFlag, show } from './arguments.ts'
import type { Command, CommandContext } from './command.ts'
import { requireDatabase } from './require-database.ts'

const flags = {
  dryRun: booleanFlag('forget: show what the database has of the person, and change nothing'),
  yes: booleanFlag('forget: do not ask for confirmation'),
}

type Context = CommandContext<typeof flags>

/** `svc person` (docs/ledger.md#privacy). It works with or without a running service. */
export const personCommand: Command<typeof flags> = {
  name: 'person',
  summary: 'export or forget what the database has of a person',
  flags,
  arguments: {
    usage: 'export|forget NAME [FILE]',
    summary: 'NAME: a user name, or id:VALUE for a user id; FILE: the new file of an export',
    maximum: 3,
  },
  examples: [
    {
      command: 'svc person export ann ann.json',
      does: 'keys, changes, sums and requests of ann in a file for you only',
    },
    { command: 'svc person forget ann --dry-run', does: 'shows what would be forgotten' },
    {
      command: 'svc person forget id:583231',
      does: 'ends the keys of the person, and removes name and ids; asks before',
    },
  ],
  run,
}

type Action = (database: PersonDatabase, wanted: WantedPerson, context: Context) => Promise<number>

const actions: Readonly<Record<string, Action>> = { export: exportTo, forget }

async function run(context: Context): Promise<number> {
  const { positionals, environment, flags: given } = context
  const [word = '', name = '', file] = positionals
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined
  if (action === undefined)
    throw new UsageError(`found ${word === '' ? 'nothing' : show(word)}, allowed: svc person export, svc person forget`)
  if (name.trim() === '') throw new UsageError(`NAME is missing: svc person ${word} NAME`)
  if (word === 'export' && (given.yes || given.dryRun))
    throw new UsageError('svc person export has neither --yes nor --dry-run')
  if (word === 'forget' && file !== undefined) throw new UsageError('svc person forget has no FILE')
  const wanted: WantedPerson = name.startsWith('id:') ? { by: 'id', text: name.slice(3) } : { by: 'name', text: name }
  const place = ledgerPlace(environment)
  if (place.kind === 'file') requireDatabase(place.path)
  const ledger = await openLedgerAt(place)
  try {
    const database = await ledger.people()
    try {
      return await action(database, wanted, context)
    } finally {
      await database.close()
    }
  } finally {
    await ledger.close()
  }
}

async function exportTo(database: PersonDatabase, wanted: WantedPerson, { positionals, stdout }: Context) {
  const [, name, file = ''] = positionals
  if (file === '') throw new UsageError(`FILE is missing: svc person export ${show(name ?? '')} FILE`)
  const path = resolve(file)
  const person = await findPerson(database, wanted)
  const time = Date.now()
  const descriptor = created(path)
  try {
    await recordExport(database, person, time)
    for await (const piece of exportPerson(database, person, time)) writeSync(descriptor, piece)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
  stdout.write(`${file} was written\n`)
  return 0
}

function created(path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    const code = errorCode(error) ?? 'error'
    const reason = code === 'EEXIST' ? 'exists: name a new file' : `cannot be written (${code}): check its folder`
    throw new Error(`${path} ${reason}`, { cause: error })
  }
}

async function forget(database: PersonDatabase, wanted: WantedPerson, context: Context): Promise<number> {
  const { flags: given, stdout } = context
  const person = await found(database, wanted, given.dryRun)
  stdout.write(summaryOf(person))
  if (given.dryRun) return 0
  if (!given.yes && !(await isConfirmed(context))) {
    stdout.write('nothing was changed\n')
    return 1
  }
  await forgetPerson(database, person, Date.now())
  stdout.write('forgotten: the database has neither name nor ids of the person any more\n')
  for (const copy of earlierCopies(context)) stdout.write(`${copy} is an earlier copy: delete it, too\n`)
  return 0
}

/** Bytes that an earlier run could not overwrite are overwritten now. */
async function found(database: PersonDatabase, wanted: WantedPerson, isDryRun: boolean): Promise<FoundPerson> {
  try {
    return await findPerson(database, wanted)
  } catch (error) {
    if (error instanceof PersonNotFound && !isDryRun) await database.erase()
    throw error
  }
}

function summaryOf({ names, id, keys, keysInUse, entries }: FoundPerson): string {
  const use = id === 0 ? 'no use' : `the use of person ${id}`
  return `${names.map(harmless).join(', ')}: ${keys} keys, of which ${keysInUse} end; ${entries} changes; ${use}\n`
}

async function isConfirmed({ stdin, stdout, signal, positionals: [, name = ''] }: Context): Promise<boolean> {
  if (stdin.edit === undefined || !stdout.isTerminal)
    throw new UsageError('nothing was changed, since there is no terminal to ask at: confirm with --yes')
  const editor = await stdin.edit({ output: stdout, history: [], complete: () => [], signal })
  try {
    const typed = await editor.read(`Type ${harmless(name)} to forget the person for good: `)
    return typed.kind === 'line' && typed.text.trim() === name
  } finally {
    editor.close()
  }
}

/** Copies that migrations of svc.db and repairs of requests.db have left. */
function earlierCopies({ environment }: Context): readonly string[] {
  const place = ledgerPlace(environment)
  if (place.kind === 'server') return []
  const name = basename(place.path)
  return readdirSync(dirname(place.path))
    .filter((file) => file.startsWith(`${name}.before-`))
    .map((file) => join(dirname(place.path), file))
}

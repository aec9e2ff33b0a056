import { closeSync, existsSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { historyKeys } from '../app/history-keys.ts'
import { ledgerPlace, openLedgerAt, requireDatabase } from '../app/ledger-place.ts'
import { booleanFlag, show } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { errorCode } from '../base/error-code.ts'
import { personEntry, personIdAt } from '../base/person-entry.ts'
import { harmless } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import type { Environment } from '../config/file/environment.ts'
import {
  exportConversations,
  findHistoryOwners,
  forgetConversations,
  type HistoryOwner,
} from '../ledger/history/history-people.ts'
import { historyPath, openHistoryDatabase } from '../ledger/history/open-history.ts'
import type { HistoryDatabase } from '../ledger/history/works.ts'
import type { LedgerPlace } from '../ledger/ledger-place.ts'
import type { PersonDatabase } from '../ledger/ledger.ts'
import { exportPerson, recordExport } from '../ledger/people/export-person.ts'
import {
  findPerson,
  PersonNotFound,
  PersonUnknown,
  type FoundPerson,
  type WantedPerson,
} from '../ledger/people/find-person.ts'
import { forgetPerson } from '../ledger/people/forget-person.ts'

const flags = {
  dryRun: booleanFlag('forget: show what the database has of the person, and change nothing'),
  yes: booleanFlag('forget: do not ask for confirmation'),
}

type Context = CommandContext<typeof flags>

/** `svc person` (docs/privacy.md). It works with or without a running service. */
export const personCommand: Command<typeof flags> = {
  name: 'person',
  summary: 'export or forget what the database has of a person',
  flags,
  arguments: {
    usage: 'export|forget NAME [FILE]',
    summary: 'NAME: a user name, or id:VALUE or id:VALUE@URL for a user id; FILE: the new file of an export',
    maximum: 3,
  },
  examples: [
    {
      command: 'svc person export ann ann.json',
      does: 'keys, changes, use and conversations of ann in a file for you only',
    },
    { command: 'svc person forget ann --dry-run', does: 'shows what would be forgotten' },
    {
      command: 'svc person forget id:583231',
      does: 'ends the keys of the person, and removes name and ids; asks before',
    },
  ],
  run,
}

/** The databases that may have something of a person. */
interface Databases {
  readonly ledger: PersonDatabase
  /** Absent: no conversations are stored. */
  readonly history: HistoryDatabase | undefined
}

/** What they have. */
interface Found {
  readonly person: FoundPerson
  readonly owners: readonly HistoryOwner[]
}

type Action = (databases: Databases, wanted: WantedPerson, context: Context) => Promise<number>

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
  return await withDatabases(environment, (databases) => action(databases, wantedBy(name), context))
}

function wantedBy(text: string): WantedPerson {
  const entry = personEntry(text)
  if (entry.kind === 'name') return { by: 'name', text }
  const { userId, provider } = entry
  return { by: 'id', text: provider === undefined ? userId : personIdAt(provider, userId) }
}

async function withDatabases(
  environment: Environment,
  work: (databases: Databases) => Promise<number>,
): Promise<number> {
  const place = ledgerPlace(environment)
  const history = await historyAt(place)
  if (place.kind === 'file' && history === undefined) requireDatabase(place.path)
  const ledger = await openLedgerAt(place)
  try {
    const people = await ledger.people()
    try {
      return await work({ ledger: people, history })
    } finally {
      await people.close()
    }
  } finally {
    await ledger.close()
    await history?.close()
  }
}

async function historyAt(place: LedgerPlace): Promise<HistoryDatabase | undefined> {
  if (place.kind === 'file' && !existsSync(historyPath(place.path))) return undefined
  return await openHistoryDatabase(place)
}

/** @throws {PersonNotFound} no database knows the person, or several people are meant */
async function find({ ledger, history }: Databases, wanted: WantedPerson): Promise<Found> {
  const known = await findPerson(ledger, wanted).catch((error: unknown) => {
    if (error instanceof PersonUnknown) return error
    throw error
  })
  const person = known instanceof PersonUnknown ? undefined : known
  const owners = history === undefined ? [] : await findHistoryOwners(history, wanted, person)
  const [first, ...others] = owners.map((owner) => owner.person)
  if (first !== undefined && others.length > 0) throw severalPeople(wanted, [first, ...others])
  if (person !== undefined) return { person, owners }
  if (first === undefined) throw known
  return { person: { id: 0, names: [first.name], keys: 0, keysInUse: 0, entries: 0 }, owners }
}

function severalPeople({ text }: WantedPerson, people: readonly HistoryOwner['person'][]): PersonNotFound {
  // Two identity providers may give the same user id.
  const hasOwnIds = new Set(people.map(({ account }) => account)).size === people.length
  const ids = people.map(({ id, account }) => `"id:${hasOwnIds ? account : id}"`).join(', ')
  return new PersonNotFound(`several people have or had the name ${JSON.stringify(text)}: name one of ${ids}`)
}

async function exportTo(databases: Databases, wanted: WantedPerson, { positionals, environment, stdout }: Context) {
  const [, name, file = ''] = positionals
  if (file === '') throw new UsageError(`FILE is missing: svc person export ${show(name ?? '')} FILE`)
  const path = resolve(file)
  const { ledger, history } = databases
  const { person, owners } = await find(databases, wanted)
  const time = Date.now()
  const keys = owners.length === 0 ? undefined : await historyKeys(environment)
  const conversations =
    history === undefined || keys === undefined ? undefined : exportConversations(history, owners, keys)
  const descriptor = created(path)
  try {
    await recordExport(ledger, person, time)
    for await (const piece of exportPerson(ledger, person, { time, conversations })) writeSync(descriptor, piece)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
  stdout.write(`${file} was written\n`)
  if (owners.length > 0 && keys === undefined)
    stdout.write('it is without conversations: they are encrypted, and SVC_HISTORY_KEY is not set\n')
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

async function forget(databases: Databases, wanted: WantedPerson, context: Context): Promise<number> {
  const { flags: given, stdout } = context
  const { ledger, history } = databases
  const { person, owners } = await found(databases, wanted, given.dryRun)
  stdout.write(summaryOf(person, owners))
  if (given.dryRun) return 0
  if (!given.yes && !(await isConfirmed(context))) {
    stdout.write('nothing was changed\n')
    return 1
  }
  if (history !== undefined) await forgetConversations(history, owners)
  await forgetPerson(ledger, person, Date.now())
  stdout.write('forgotten: the database has neither name nor ids of the person any more\n')
  for (const copy of earlierCopies(context)) stdout.write(`${copy} is an earlier copy: delete it, too\n`)
  return 0
}

/** Bytes that an earlier run could not overwrite are overwritten now. */
async function found(databases: Databases, wanted: WantedPerson, isDryRun: boolean): Promise<Found> {
  try {
    return await find(databases, wanted)
  } catch (error) {
    if (error instanceof PersonNotFound && !isDryRun) {
      await databases.ledger.erase()
      await databases.history?.erase()
    }
    throw error
  }
}

function summaryOf({ names, id, keys, keysInUse, entries }: FoundPerson, owners: readonly HistoryOwner[]): string {
  const use = id === 0 ? 'no use' : `the use of person ${id}`
  const stored = owners.reduce((sum, { conversations }) => sum + conversations.length, 0)
  const more = owners.length === 0 ? '' : `; ${stored} conversations`
  const known = `${keys} keys, of which ${keysInUse} end; ${entries} changes; ${use}${more}`
  return `${names.map(harmless).join(', ')}: ${known}\n`
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

/** Copies that migrations of the databases and repairs of requests.db have left. */
function earlierCopies({ environment }: Context): readonly string[] {
  const place = ledgerPlace(environment)
  if (place.kind === 'server') return []
  const names = [place.path, historyPath(place.path)].map((path) => `${basename(path)}.before-`)
  return readdirSync(dirname(place.path))
    .filter((file) => names.some((name) => file.startsWith(name)))
    .map((file) => join(dirname(place.path), file))
}

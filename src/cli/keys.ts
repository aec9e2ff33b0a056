import { ledgerPlace, openLedgerAt } from '../app/ledger-place.ts'
import {
  booleanFlag,
  choiceFlag,
  flagName,
  integerFlag,
  namesFlag,
  show,
  textFlag,
} from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { didYouMean } from '../base/nearest.ts'
import { harmless, paintFor } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import { ConfigError } from '../config/config.ts'
import type { KeyTable, NoSuccessor, StoredKey } from '../ledger/ledger.ts'
import { fileKeyNameRule, isFileLine, storedFileKeys, type FileKey } from '../people/keys/file-key.ts'
import { KeyFault } from '../people/keys/grants.ts'
import type { KeyView } from '../people/keys/key-view.ts'
import {
  endKey,
  lifeDaysMax,
  makeFileKey,
  makeKey,
  overlapDaysMax,
  parseKeyRequest,
  rotateKey,
  viewOfKey,
  type KeyRequest,
  type MadeKey,
} from '../people/keys/manage-keys.ts'
import { jsonFlag } from './flags.ts'
import { formatTable, type Cell } from './terminal.ts'

const flags = {
  name: textFlag('make: name of the key, for the log and for lists', 'NAME'),
  kind: choiceFlag('make: program calls models, management makes and ends keys', ['program', 'management'], {
    placeholder: 'KIND',
    fallback: 'program',
  }),
  team: textFlag('make: the team of access.json that it belongs to, and in whose limits it counts', 'NAME', {
    otherwise: 'none',
  }),
  models: namesFlag('make: the only models, as names or as beginnings such as gpt-5*', 'MODELS', { otherwise: 'all' }),
  providers: namesFlag('make: the only providers, by id', 'IDS', { otherwise: 'all' }),
  networks: namesFlag('make: the only addresses of clients, such as 10.0.0.0/8', 'NETWORKS', { otherwise: 'all' }),
  scopes: namesFlag(
    'make: chat, models:read, usage:read, log:read, metrics:read; of a management key keys:write',
    'SCOPES',
    {
      otherwise: 'chat,models:read, or keys:write',
    },
  ),
  days: integerFlag('make: days until the key expires; 0: never', 'DAYS', {
    minimum: 0,
    maximum: lifeDaysMax,
    fallback: 0,
  }),
  overlap: integerFlag('rotate: days that the old key still works', 'DAYS', {
    minimum: 0,
    maximum: overlapDaysMax,
    fallback: 1,
  }),
  hashOnly: booleanFlag('make: stores nothing; prints the key, and its entry for "keys" in access.json'),
  json: jsonFlag,
}

type Context = CommandContext<typeof flags>
type FlagName = keyof typeof flags

/** `svc keys` (docs/keys.md). It works on the database of this machine, with or without a running service. */
export const keysCommand: Command<typeof flags> = {
  name: 'keys',
  summary: 'make, list, rotate and end keys for programs',
  flags,
  arguments: {
    usage: 'make|list|show|rotate|end [ID]',
    summary: 'show, rotate and end need the id of a key, as list shows it',
    maximum: 2,
  },
  examples: [
    { command: 'svc keys make --name indexer', does: 'prints a new key, this once' },
    {
      command: 'svc keys make --name batch --models "gpt-5*,claude-haiku-4-5" --days 30 --json',
      does: 'a key for some models and 30 days, as JSON',
    },
    { command: 'svc keys make --name nightly --team search', does: 'a key of a team, in whose limits it counts' },
    {
      command: 'svc keys make --name ci --hash-only',
      does: 'prints a new key, and the entry with its hash for access.json',
    },
    { command: 'svc keys rotate 3 --overlap 2', does: 'a new key in place of key 3, which still works for 2 days' },
    { command: 'svc keys end 3', does: 'refuses key 3 from now on, in a running service too' },
  ],
  run,
}

const actions: Readonly<Record<string, { readonly flags: readonly FlagName[]; readonly run: Action }>> = {
  make: { flags: ['name', 'kind', 'team', 'models', 'providers', 'networks', 'scopes', 'days', 'hashOnly'], run: make },
  list: { flags: [], run: list },
  show: { flags: [], run: showKey },
  rotate: { flags: ['overlap'], run: rotate },
  end: { flags: [], run: end },
}

type Action = (keys: KeyTable, context: Context) => Promise<void>

/** Keys on one page of a list. The whole list is printed. */
const pageSize = 1_000

const unknownKey = (id: number): Error => new Error(`there is no key ${id}: svc keys list shows all`)

async function run(context: Context): Promise<number> {
  const [word = ''] = context.positionals
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined
  if (action === undefined)
    throw new UsageError(
      `found ${word === '' ? 'nothing' : show(word)}, allowed: svc keys ${Object.keys(actions).join(', ')}`,
    )
  refuseOtherFlags(word, action.flags, context)
  try {
    if (context.flags.hashOnly) {
      await makeForFile(context)
      return 0
    }
    const ledger = await openLedgerAt(ledgerPlace(context.environment))
    try {
      await action.run(ledger.keys, context)
      return 0
    } finally {
      await ledger.close()
    }
  } catch (error) {
    if (error instanceof KeyFault) throw new UsageError(`${flagName(error.field)}: ${error.message}`, { cause: error })
    throw error
  }
}

/** A flag of another action would have no effect. */
function refuseOtherFlags(action: string, allowed: readonly FlagName[], { flags: given }: Context): void {
  const names: readonly FlagName[] = [
    'name',
    'kind',
    'team',
    'models',
    'providers',
    'networks',
    'scopes',
    'days',
    'overlap',
    'hashOnly',
  ]
  const other = names.find((name) => !allowed.includes(name) && !Bun.deepEquals(given[name], flags[name].fallback))
  if (other !== undefined) throw new UsageError(`svc keys ${action} has no ${flagName(other)}`)
}

async function make(keys: KeyTable, context: Context): Promise<void> {
  const request = await requestOf(context)
  printMade(await makeKey(keys, request, maker()), context.flags.json, context)
}

/** The key and its entry go to standard output, one line each. */
async function makeForFile(context: Context): Promise<void> {
  const request = await requestOf(context)
  if (request.kind !== 'program') throw new KeyFault('kind', 'a management key cannot stand in access.json')
  const { allowed, pattern, lengthMax } = fileKeyNameRule
  if (request.name.length > lengthMax || !pattern.test(request.name))
    throw new KeyFault('name', `found ${show(request.name)}, allowed with --hash-only: ${allowed}`)
  const made = makeFileKey(request, Date.now())
  const { stdout, stderr, flags: given } = context
  if (given.json) return stdout.write(jsonText(made))
  stderr.write(
    `key ${made.entry.name}; it is shown this once, and stored nowhere. Its entry for "keys" of access.json:\n`,
  )
  stdout.write(`${made.key}\n${jsonText(made.entry)}`)
}

/** @throws {UsageError} @throws {KeyFault} */
async function requestOf({ flags: given, environment }: Context): Promise<KeyRequest> {
  if (given.name === undefined) throw new UsageError('--name is missing: svc keys make --name NAME')
  const { name, kind, team, models, providers, networks, scopes, days } = given
  if (team !== undefined) await checkTeam(team, environment)
  const lists = Object.entries({ models, providers, networks, scopes }).filter(([, list]) => list.length > 0)
  return parseKeyRequest({ name, kind, team, ...Object.fromEntries(lists), ...(days === 0 ? {} : { days }) })
}

/** @throws {UsageError} access.json has no such team */
async function checkTeam(team: string, environment: Context['environment']): Promise<void> {
  const { loadAccess } = await import('../config/file/parse-access.ts')
  const { teams } = await loadAccess(environment)
  if (teams.has(team)) return
  const allowed = `the name of a team in access.json${didYouMean(team, [...teams.keys()])}`
  throw new UsageError(`--team: found ${show(team)}, allowed: ${allowed}`)
}

async function list(keys: KeyTable, context: Context): Promise<void> {
  const {
    flags: { json },
    stdout,
  } = context
  const now = Date.now()
  const stored: StoredKey[] = []
  for (;;) {
    const page = await keys.list(stored.at(-1)?.id ?? 0, pageSize)
    stored.push(...page)
    if (page.length < pageSize) break
  }
  const inFile = await storedFileKeys(keys, await fileKeys(context))
  const views = [...stored, ...inFile].map((key) => viewOfKey(key, now))
  if (json) return stdout.write(jsonText({ keys: views }))
  if (views.length === 0) return stdout.write('There is no key. svc keys make --name NAME makes one.\n')
  const columns = ['ID', 'NAME', 'KEY', 'STATE', 'EXPIRES', 'LAST USED', 'MAY'].map((title, index) => ({
    title,
    align: index === 0 ? ('right' as const) : ('left' as const),
    shrinks: title === 'MAY',
  }))
  stdout.write(formatTable(columns, views.map(rowOf), paintFor(stdout), stdout.isTerminal ? stdout.columns : Infinity))
}

/** The keys in access.json. A file with faults is reported. */
async function fileKeys({ environment, stderr }: Pick<Context, 'environment' | 'stderr'>): Promise<readonly FileKey[]> {
  const { loadAccess } = await import('../config/file/parse-access.ts')
  try {
    return (await loadAccess(environment)).keys ?? []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    stderr.write(`keys in access.json are not known:\n${harmless(error.message)}\n`)
    return []
  }
}

async function showKey(keys: KeyTable, context: Context): Promise<void> {
  const [, name] = context.positionals
  const inFile = (await fileKeys(context)).filter((key) => key.name === name)
  const [named] = await storedFileKeys(keys, inFile)
  const id = named?.id ?? (await storedId(context))
  const key = named ?? (await keys.find(id))
  if (key === undefined) throw unknownKey(id)
  const view = viewOfKey(key, Date.now())
  const { stdout, flags: given } = context
  if (given.json) return stdout.write(jsonText(view))
  for (const [name, value] of Object.entries(view)) {
    if (value === null) continue
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    stdout.write(`${name.replace('_', ' ')}:`.padEnd(12) + `${harmless(text)}\n`)
  }
}

async function rotate(keys: KeyTable, context: Context): Promise<void> {
  const id = await storedId(context)
  const made = await rotateKey(keys, id, { ...maker(), overlapDays: context.flags.overlap })
  if (typeof made === 'string') throw refusalOf(made, id)
  printMade(made, context.flags.json, context)
}

async function end(keys: KeyTable, context: Context): Promise<void> {
  const id = await storedId(context)
  const view = await endKey(keys, id, maker())
  if (view === undefined) throw unknownKey(id)
  const { stdout, flags: given } = context
  stdout.write(given.json ? jsonText(view) : `key ${id} (${harmless(view.name)}) has ended\n`)
}

function maker(): { readonly by: string; readonly now: number } {
  return { by: 'command line', now: Date.now() }
}

function refusalOf(reason: NoSuccessor, id: number): Error {
  if (reason === 'unknown') return unknownKey(id)
  if (reason === 'personal') return new Error(`key ${id} belongs to a person: only they make keys that act as them`)
  return new Error(
    reason === 'over'
      ? `key ${id} has ended or expired: make a new one`
      : `key ${id} was rotated before: rotate its successor, which has the same line in svc keys list --json`,
  )
}

/** @throws {UsageError} without an id of a key in the database */
async function storedId(context: Context): Promise<number> {
  const {
    positionals: [action, text],
  } = context
  if (text !== undefined && /^[1-9]\d{0,14}$/.test(text)) return Number(text)
  if ((await fileKeys(context)).some(({ name }) => name === text))
    throw new UsageError(
      `key ${text} is in access.json: remove it there to end it, or put another hash in its place to replace it`,
    )
  const found = text === undefined ? 'nothing' : show(text)
  throw new UsageError(`found ${found}, allowed: svc keys ${action} ID, with the number of a key`)
}

/** The key alone goes to standard output, so that a script can take it from there. */
function printMade(made: MadeKey, json: boolean, { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>): void {
  if (json) return stdout.write(jsonText(made))
  stderr.write(`key ${made.id} (${harmless(made.name)}); it is shown this once:\n`)
  stdout.write(`${made.key}\n`)
}

function rowOf(view: KeyView): readonly Cell[] {
  const { id, name, hint, state, source, expires, last_used: used } = view
  return [
    isFileLine(id) ? '–' : String(id),
    name,
    hint,
    state !== 'active' ? { text: state, style: 'dim' } : source === 'access.json' ? 'in access.json' : state,
    expires?.slice(0, 10) ?? 'never',
    used?.slice(0, 16).replace('T', ' ') ?? 'never',
    grantsOf(view),
  ]
}

function grantsOf({ scopes, team, models, providers, networks }: KeyView): string {
  const lists = Object.entries({ models, providers, networks }).flatMap(([name, list]) =>
    list === null ? [] : `${name} ${list.join(',')}`,
  )
  return [scopes.join(','), ...(team === null ? [] : [`team ${team}`]), ...lists].join('; ')
}

function jsonText(value: object): string {
  return `${JSON.stringify(value)}\n`
}

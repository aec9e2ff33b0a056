import { isRecord } from '../../base/json-value.ts'
import { oneLine } from '../../base/text-rule.ts'
import type { KeyPerson, KeyTable, NewKey, NoSuccessor, StoredKey } from '../../ledger/ledger.ts'
import { fileKeyMaker, isFileLine } from './file-key.ts'
import { KeyFault, parseGrants, parseStoredGrants, type Grants } from './grants.ts'
import { hashOfKey, hintOfKey, newKey, readKey, type KeyKind } from './key-form.ts'
import type { KeyView } from './key-view.ts'

/** Days that the old key of a rotation lives on, at most. */
export const overlapDaysMax = 7
/** Days that a key lives, at most. */
export const lifeDaysMax = 3_650

const dayMs = 24 * 60 * 60 * 1_000
/** Days after which a person's keys rest, until the person signs in again. */
export const restDays = 30
const nameRule = oneLine(64)

/** A key to be made. */
export interface KeyRequest {
  readonly name: string
  readonly kind: KeyKind
  readonly grants: Grants
  /** Absent: it does not expire. */
  readonly days?: number
  /** Name of the team that it belongs to. Absent: none. */
  readonly team?: string
}

/** Author of a change, and its time in Unix milliseconds. */
export interface Maker {
  readonly by: string
  readonly now: number
}

/** A key that was just made. Its text is shown this once. */
export interface MadeKey extends KeyView {
  readonly key: string
}

const members = ['name', 'kind', 'team', 'models', 'providers', 'networks', 'scopes', 'days']
const teamLengthMax = 64

/** Parses a key to be made: the body of `POST /v1/keys`, or the flags of `svc keys make`. @throws {KeyFault} */
export function parseKeyRequest(value: unknown): KeyRequest {
  if (!isRecord(value)) throw new KeyFault('', 'a key to be made must be an object')
  const other = Object.keys(value).find((name) => !members.includes(name))
  if (other !== undefined) throw new KeyFault(other.slice(0, 64), `unknown member, allowed: ${members.join(', ')}`)
  const { name, kind = 'program', days, team } = value
  if (typeof name !== 'string' || name.length > nameRule.lengthMax || !nameRule.pattern.test(name))
    throw new KeyFault('name', `allowed: ${nameRule.allowed}, at most ${nameRule.lengthMax} characters`)
  if (kind !== 'program' && kind !== 'management') throw new KeyFault('kind', 'allowed: program, management')
  const grants = parseGrants(value, kind)
  const request: KeyRequest = { name, kind, grants, ...parseTeam(team, kind) }
  if (days === undefined || days === null) return request
  return { ...request, days: parseDays(days, 'days', 1, lifeDaysMax) }
}

/** Whether access.json has the team is checked by the caller. @throws {KeyFault} */
function parseTeam(team: unknown, kind: KeyKind): Pick<KeyRequest, 'team'> {
  if (team === undefined || team === null) return {}
  if (kind === 'management') throw new KeyFault('team', 'a management key belongs to no team')
  if (typeof team === 'string' && team !== '' && team.length <= teamLengthMax) return { team }
  throw new KeyFault('team', 'allowed: the name of a team of access.json')
}

/** Parses a number of days. @throws {KeyFault} */
export function parseDays(value: unknown, field: string, minimum: number, maximum: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum) return value
  throw new KeyFault(field, `allowed: an integer from ${minimum} to ${maximum}`)
}

/**
 * Makes a key.
 *
 * @param most keys that its team may have. Default: no limit
 * @throws {LedgerUnavailable} @throws {LedgerFull}
 */
export async function makeKey(keys: KeyTable, request: KeyRequest, maker: Maker, most?: number): Promise<MadeKey> {
  const { key, row } = preparedFor(request, maker)
  return { ...viewOfKey(await keys.add(row, most), maker.now), key }
}

/**
 * Makes a key that belongs to a person.
 *
 * @param most keys that the person may have
 * @throws {LedgerUnavailable} @throws {LedgerFull}
 */
export async function makeOwnKey(
  keys: KeyTable,
  request: KeyRequest,
  { person, most }: { readonly person: KeyPerson; readonly most: number },
): Promise<MadeKey> {
  const { key, row } = preparedFor(request, { by: person.name, now: person.seen })
  return { ...viewOfKey(await keys.add({ ...row, person }, most), person.seen), key }
}

/** An entry of `keys` in access.json (docs/keys.md). */
export interface FileKeyEntry extends Partial<Grants> {
  readonly name: string
  /** SHA-256 in hexadecimal digits. */
  readonly hash: string
  readonly team?: string
  /** RFC 3339. */
  readonly expires?: string
}

/** Makes a key of a program with its entry for access.json. Neither is stored. @param now Unix milliseconds */
export function makeFileKey(request: KeyRequest, now: number): { readonly key: string; readonly entry: FileKeyEntry } {
  const { key, row } = preparedFor(request, { by: fileKeyMaker, now })
  const { name, team, grants } = request
  const hash = Buffer.from(row.hash, 'base64').toString('hex')
  const expires = row.expires === undefined ? {} : { expires: timeOf(row.expires) }
  return { key, entry: { name, hash, ...(team === undefined ? {} : { team }), ...expires, ...grants } }
}

function preparedFor({ name, kind, grants, days, team }: KeyRequest, maker: Maker): PreparedKey {
  const lifeMs = days === undefined ? undefined : days * dayMs
  return prepared(
    { name, kind, lifeMs, grants: JSON.stringify(grants), ...(team === undefined ? {} : { team }) },
    maker,
  )
}

/** How a key is replaced. */
export interface Rotation extends Maker {
  /** Days that the old key lives on. */
  readonly overlapDays: number
  /** Of the successor: days that it lives, and keys of its team that may be in use, at most. Default: no ceilings */
  readonly ceilings?: { readonly most: number; readonly daysMost: number }
}

/**
 * Makes a successor with the same name, grants, team and life. The old key expires after the overlap.
 *
 * @returns the successor, or why there is none
 * @throws {LedgerUnavailable} @throws {LedgerFull}
 */
export async function rotateKey(
  keys: KeyTable,
  id: number,
  { overlapDays, ceilings, ...maker }: Rotation,
): Promise<MadeKey | NoSuccessor> {
  const before = await keys.find(id)
  if (before === undefined) return 'unknown'
  const { name, grants, made, expires, team } = before
  const lifeMs = shorterOf(expires === undefined ? undefined : expires - made, ceilings && ceilings.daysMost * dayMs)
  const facts = { name, kind: kindOf(before), lifeMs, grants, ...(team === undefined ? {} : { team }) }
  const { key, row } = prepared(facts, maker)
  const stored = await keys.replace(id, row, maker.now + overlapDays * dayMs, ceilings?.most)
  return typeof stored === 'string' ? stored : { ...viewOfKey(stored, maker.now), key }
}

function shorterOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** Ends a key for good. @returns `undefined`: there is no such key @throws {LedgerUnavailable} */
export async function endKey(keys: KeyTable, id: number, { by, now }: Maker): Promise<KeyView | undefined> {
  const stored = await keys.end(id, { at: now, by })
  return stored === undefined ? undefined : viewOfKey(stored, now)
}

interface KeyFacts extends Pick<NewKey, 'name' | 'grants' | 'team'> {
  readonly kind: KeyKind
  readonly lifeMs: number | undefined
}

interface PreparedKey {
  readonly key: string
  readonly row: NewKey
}

function prepared({ lifeMs, ...facts }: KeyFacts, { by, now }: Maker): PreparedKey {
  const key = newKey(facts.kind)
  const formed = readKey(key)
  if (formed === undefined || formed === 'malformed') throw new Error('a new key is malformed')
  const expires = lifeMs === undefined ? {} : { expires: now + lifeMs }
  const row = { ...facts, hash: hashOfKey(formed), hint: hintOfKey(formed), made: now, madeBy: by, ...expires }
  return { key, row }
}

/** The kind of a stored key. An unknown one, of a newer version, may do nothing. */
export function kindOf({ kind }: Pick<StoredKey, 'kind'>): KeyKind {
  return kind === 'program' ? kind : 'management'
}

/** A key as it is shown. @param now Unix milliseconds */
export function viewOfKey(stored: StoredKey, now: number): KeyView {
  const { id, line, name, kind, hint, made, madeBy, expires, ended, endedBy, used, person, team = null } = stored
  const { models = null, providers = null, networks = null, scopes } = shownGrants(stored)
  return {
    id,
    name,
    kind,
    hint,
    state: stateOf(stored, now),
    made: isFileLine(line) ? null : timeOf(made),
    made_by: madeBy,
    source: isFileLine(line) ? 'access.json' : 'database',
    expires: expires === undefined ? null : timeOf(expires),
    ended: ended === undefined ? null : timeOf(ended),
    ended_by: endedBy ?? null,
    last_used: used === undefined ? null : timeOf(used),
    person: person?.name ?? null,
    team,
    line,
    models,
    providers,
    networks,
    scopes,
  }
}

function stateOf({ ended, expires, person }: StoredKey, now: number): KeyView['state'] {
  if (ended !== undefined) return 'ended'
  if (expires !== undefined && expires <= now) return 'expired'
  return person !== undefined && isResting(person, now) ? 'resting' : 'active'
}

/** Whether a person's keys rest. @param now Unix milliseconds */
export function isResting({ seen }: Pick<KeyPerson, 'seen'>, now: number): boolean {
  return now - seen > restDays * dayMs
}

/** Stored grants that cannot be read grant nothing. */
function shownGrants(stored: StoredKey): Grants {
  try {
    return parseStoredGrants(stored.grants, kindOf(stored))
  } catch {
    return { scopes: [] }
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

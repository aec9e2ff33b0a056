import type { ExtensionRoute, RouteContext } from '../../extensions/extension.ts'
import type { AccessScope } from '../../formats/access.ts'
import { WireError } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import type { KeyPerson, StoredKey } from '../../ledger/ledger.ts'
import { signedInPerson, type Person } from '../person.ts'
import { isFileLine, storedFileKeys } from './file-key.ts'
import { KeyFault } from './grants.ts'
import type { KeyHost, OwnKeys } from './key-host.ts'
import {
  endKey,
  makeKey,
  makeOwnKey,
  parseDays,
  parseKeyRequest,
  rotateKey,
  viewOfKey,
  type KeyRequest,
} from './manage-keys.ts'
import { recordedChanges, type KeyLedger } from './recorded-change.ts'
import { idOf, keyInFile, keyNotFound, parsed, uncachedJson, withLedger } from './responses.ts'
import { rotationOf, successorOf } from './rotation.ts'

const bodyBytesMax = 64 * 1024
const keysPath = '/api/keys'
const keyPath = '/api/keys/'
const rotatePath = '/api/keys/{id}/rotate'
/** Keys of a person or a team that are listed, the newest first. */
const listedMax = 200
const members = ['name', 'team', 'days', 'models', 'scopes']
/** The scopes of keys that people make. */
const ownScopes: readonly AccessScope[] = ['chat', 'models:read', 'usage:read']

/**
 * `/api/keys`: a signed-in person lists, makes and ends keys of their own, and of the teams that they lead, which they
 * can also rotate (docs/keys.md).
 */
export function ownKeyRoutes(
  ledger: KeyLedger,
  { log, now, ownKeys, teams, fileKeys, contentKeptMs }: Omit<KeyHost, 'ledger' | 'mayEnter'>,
): readonly ExtensionRoute[] {
  const { keys } = ledger
  const changeBy = recordedChanges(ledger, 'page', log)

  async function list(context: RouteContext, person: KeyPerson): Promise<Response> {
    const { most, daysMost } = ownKeys()
    const team = new URL(context.request.url).searchParams.get('team')
    if (team !== null) checkTeam(teams, person, team)
    const stored = await keys.listOf(team === null ? { person: person.id } : { team }, listedMax)
    const ofTeam = fileKeys().filter((key) => team !== null && key.team === team)
    const found = [...stored, ...(await storedFileKeys(keys, ofTeam))]
    const data = found.map((key) => ({ ...viewOfKey(key, now()), ...contentFact(contentKeptMs(key)) }))
    return uncachedJson({
      object: 'list',
      data,
      most,
      days_most: daysMost,
      scopes: ownScopes,
      teams: teams.managedBy(person),
    })
  }

  async function make(context: RouteContext, person: KeyPerson): Promise<Response> {
    const ceilings = allowedKeys(ownKeys())
    const value = parseJsonObject(await context.body(bodyBytesMax))
    const request = parsed((given) => parseOwnKey(given, ceilings), value)
    const { most } = ceilings
    if (request.team !== undefined) checkTeam(teams, person, request.team)
    const change = changeBy(context)
    const made =
      request.team === undefined
        ? await makeOwnKey(change.keys, request, { person, most })
        : await makeKey(change.keys, request, { by: person.name, now: now() }, most)
    change.noted(request.team === undefined ? 'a person made a key' : 'a key of a team was made', made.id)
    return uncachedJson(made)
  }

  async function end(context: RouteContext, person: KeyPerson): Promise<Response> {
    const { id } = await theirKey(person, idOf(context.path, keyPath))
    const change = changeBy(context)
    const ended = await endKey(change.keys, id, { by: person.name, now: now() })
    change.noted('a key was ended', id)
    return uncachedJson(ended)
  }

  /** The successor is within the ceilings of a new key, so that a lead gets no more by rotating than by making one. */
  async function rotate(context: RouteContext, person: KeyPerson): Promise<Response> {
    const { id, overlapDays } = await rotationOf(context, keyPath)
    const ceilings = allowedKeys(ownKeys())
    checkScopes(viewOfKey(await theirKey(person, id), now()).scopes)
    const change = changeBy(context)
    const rotation = { by: person.name, now: now(), overlapDays, ceilings }
    const made = successorOf(await rotateKey(change.keys, id, rotation))
    change.noted('a key of a team was rotated', id)
    return uncachedJson(made)
  }

  /** @throws {WireError} 404, also for keys of others: their ids are not told; 409 in access.json */
  async function theirKey(person: KeyPerson, id: number): Promise<StoredKey> {
    const inFile = fileKeys().find(({ line }) => line === id)
    if (inFile?.team !== undefined && teams.managedBy(person).includes(inFile.team)) throw keyInFile()
    const key = isFileLine(id) ? undefined : await keys.find(id)
    const isTheirs =
      key?.team === undefined ? key?.person?.id === person.id : teams.managedBy(person).includes(key.team)
    if (key === undefined || !isTheirs) throw keyNotFound()
    return key
  }

  const routes = [
    { method: 'GET', path: keysPath, handle: list },
    { method: 'POST', path: keysPath, handle: make },
    { method: 'DELETE', path: keyPath, handle: end },
    { method: 'POST', path: rotatePath, handle: rotate },
  ] as const
  return routes.map(({ handle, ...route }) => ({
    ...route,
    handle: (context) => withLedger(() => handle(context, signedIn(context, now()))),
  }))
}

/** @throws {WireError} 403 */
function checkTeam(teams: KeyHost['teams'], person: Person, team: string): void {
  if (teams.managedBy(person).includes(team)) return
  throw new WireError(
    403,
    'permission_error',
    'not_a_lead',
    'Only leads of a team of access.json, and owners, may do this',
  )
}

/** @throws {WireError} 403 */
function allowedKeys(ceilings: OwnKeys): OwnKeys {
  if (ceilings.most > 0) return ceilings
  const text = 'People make no keys of their own here: own_keys of access.json says so'
  throw new WireError(403, 'permission_error', 'own_keys_off', text)
}

/** @throws {WireError} 403 for a scope that people cannot give */
function checkScopes(scopes: readonly string[]): void {
  const beyond = beyondOwn(scopes)
  if (beyond === undefined) return
  const text = `The key has the scope ${beyond}, which leads cannot give: an owner of the service can rotate it`
  throw new WireError(403, 'permission_error', 'scope_not_allowed', text)
}

/** Whether content of a key's requests is kept. */
function contentFact(keptMs: number | undefined): { readonly content?: { readonly kept_seconds: number } } {
  return keptMs === undefined ? {} : { content: { kept_seconds: keptMs / 1_000 } }
}

/** @throws {WireError} 403 without a user. Keys are refused before: these routes have no scope */
function signedIn({ caller }: RouteContext, now: number): KeyPerson {
  const person = signedInPerson(caller)
  if (person !== undefined) return { ...person, seen: now }
  throw new WireError(
    403,
    'permission_error',
    'sign_in_required',
    'Only people who have signed in have keys of their own',
  )
}

/** @throws {KeyFault} */
function parseOwnKey(value: Readonly<Record<string, unknown>>, { daysMost }: OwnKeys): KeyRequest {
  const other = Object.keys(value).find((name) => !members.includes(name))
  if (other !== undefined) throw new KeyFault(other.slice(0, 64), `unknown member, allowed: ${members.join(', ')}`)
  const { days, ...request } = value
  const parsedRequest = parseKeyRequest(request)
  const beyond = beyondOwn(parsedRequest.grants.scopes)
  if (beyond !== undefined)
    throw new KeyFault('scopes', `found "${beyond}", allowed for keys of people: ${ownScopes.join(', ')}`)
  return { ...parsedRequest, days: parseDays(days ?? daysMost, 'days', 1, daysMost) }
}

/** The first scope that people cannot give to their keys. */
function beyondOwn<Scope extends string>(scopes: readonly Scope[]): Scope | undefined {
  return scopes.find((scope) => !ownScopes.some((own) => own === scope))
}

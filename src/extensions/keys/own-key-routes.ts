import type { AccessScope } from '../../formats/access.ts'
import { WireError } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import { KeyFault } from '../../keys/grants.ts'
import { endKey, makeOwnKey, parseDays, parseKeyRequest, viewOfKey, type KeyRequest } from '../../keys/manage-keys.ts'
import type { KeyPerson } from '../../ledger/ledger.ts'
import type { ExtensionRoute, Host, OwnKeyCeilings, RouteContext } from '../extension.ts'
import { personOf } from './people.ts'
import { recordedChanges, type KeyLedger } from './recorded-change.ts'
import { idOf, keyNotFound, parsed, uncachedJson, withLedger } from './responses.ts'

const bodyBytesMax = 64 * 1024
const keysPath = '/api/keys'
const keyPath = '/api/keys/'
/** Keys of a person that are listed, the newest first. */
const listedMax = 200
const members = ['name', 'days', 'models', 'scopes']
/** The scopes of a person's own keys. */
const ownScopes: readonly AccessScope[] = ['chat', 'models:read', 'usage:read']

/** `/api/keys`: a signed-in person lists, makes and ends keys of their own (docs/keys.md). */
export function ownKeyRoutes(
  ledger: KeyLedger,
  { log, now, ownKeys, contentKeptMs }: Pick<Host, 'log' | 'now' | 'ownKeys' | 'contentKeptMs'>,
): readonly ExtensionRoute[] {
  const { keys } = ledger
  const changeBy = recordedChanges(ledger, 'page', log)

  async function list(_: RouteContext, person: KeyPerson): Promise<Response> {
    const { most, daysMost } = ownKeys()
    const found = await keys.listOf(person.id, listedMax)
    const data = found.map((key) => ({ ...viewOfKey(key, now()), ...contentFact(contentKeptMs(key)) }))
    return uncachedJson({ object: 'list', data, most, days_most: daysMost, scopes: ownScopes })
  }

  async function make(context: RouteContext, person: KeyPerson): Promise<Response> {
    const ceilings = ownKeys()
    if (ceilings.most === 0)
      throw new WireError(
        403,
        'permission_error',
        'own_keys_off',
        'People make no keys of their own here: own_keys of access.json says so',
      )
    const value = parseJsonObject(await context.body(bodyBytesMax))
    const request = parsed((given) => parseOwnKey(given, ceilings), value)
    const change = changeBy(context)
    const made = await makeOwnKey(change.keys, request, { person, most: ceilings.most })
    change.noted('a person made a key', made.id)
    return uncachedJson(made)
  }

  async function end(context: RouteContext, person: KeyPerson): Promise<Response> {
    const id = idOf(context.path, keyPath)
    const key = await keys.find(id)
    // As if there were none: ids of other people's keys are no business of theirs.
    if (key?.person?.id !== person.id) throw keyNotFound()
    const change = changeBy(context)
    const ended = await endKey(change.keys, id, { by: person.user, now: now() })
    change.noted('a key was ended', id)
    return uncachedJson(ended)
  }

  const routes = [
    { method: 'GET', path: keysPath, handle: list },
    { method: 'POST', path: keysPath, handle: make },
    { method: 'DELETE', path: keyPath, handle: end },
  ] as const
  return routes.map(({ handle, ...route }) => ({
    ...route,
    handle: (context) => withLedger(() => handle(context, signedIn(context, now()))),
  }))
}

/** Whether content of a key's requests is kept. */
function contentFact(keptMs: number | undefined): { readonly content?: { readonly kept_seconds: number } } {
  return keptMs === undefined ? {} : { content: { kept_seconds: keptMs / 1_000 } }
}

/** @throws {WireError} 403 without a user. Keys are refused before: these routes have no scope */
function signedIn({ visitor }: RouteContext, now: number): KeyPerson {
  if (visitor !== undefined && visitor.access === undefined) return personOf(visitor, now)
  throw new WireError(
    403,
    'permission_error',
    'sign_in_required',
    'Only people who have signed in have keys of their own',
  )
}

/** @throws {KeyFault} */
function parseOwnKey(value: Readonly<Record<string, unknown>>, { daysMost }: OwnKeyCeilings): KeyRequest {
  const other = Object.keys(value).find((name) => !members.includes(name))
  if (other !== undefined) throw new KeyFault(other.slice(0, 64), `unknown member, allowed: ${members.join(', ')}`)
  const { days, ...request } = value
  const parsedRequest = parseKeyRequest(request)
  const beyond = parsedRequest.grants.scopes.find((scope) => !ownScopes.includes(scope))
  if (beyond !== undefined)
    throw new KeyFault('scopes', `found "${beyond}", allowed for keys of people: ${ownScopes.join(', ')}`)
  return { ...parsedRequest, days: parseDays(days ?? daysMost, 'days', 1, daysMost) }
}

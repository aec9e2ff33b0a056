import type { ExtensionRoute, RouteContext } from '../../extensions/extension.ts'
import { invalidRequest } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import { isFileLine, storedFileKeys, type FileKey } from './file-key.ts'
import type { KeyHost } from './key-host.ts'
import { endKey, makeKey, parseKeyRequest, rotateKey, viewOfKey } from './manage-keys.ts'
import { recordedChanges, type KeyLedger } from './recorded-change.ts'
import { idOf, keyInFile, keyNotFound, noSuchTeam, parsed, uncachedJson, withLedger } from './responses.ts'
import { rotationOf, successorOf } from './rotation.ts'

const bodyBytesMax = 64 * 1024
const keysPath = '/v1/keys'
const keyPath = '/v1/keys/'
const rotatePath = '/v1/keys/{id}/rotate'
const pageSizeDefault = 100
const pageSizeMax = 1_000
const idMax = 999_999_999_999_999

/** `/v1/keys`: management keys and owners list, make, rotate and end keys (docs/keys.md). */
export function keyRoutes(
  ledger: KeyLedger,
  { log, now, teams, fileKeys }: Pick<KeyHost, 'log' | 'now' | 'teams' | 'fileKeys'>,
): readonly ExtensionRoute[] {
  const { keys } = ledger
  const changeBy = recordedChanges(ledger, 'v1/keys', log)
  const maker = ({ caller }: RouteContext) => ({ by: caller.name ?? 'an owner', now: now() })

  async function list({ request }: RouteContext): Promise<Response> {
    const query = new URL(request.url).searchParams
    const after = queryNumber(query, 'after', { minimum: -idMax, maximum: idMax, fallback: 0 })
    const limit = queryNumber(query, 'limit', { minimum: 1, maximum: pageSizeMax, fallback: pageSizeDefault })
    // One key more than is listed shows whether there are more.
    const inFile = await storedFileKeys(keys, fileKeysAfter(fileKeys(), after, limit + 1))
    const stored = await keys.list(Math.max(after, 0), limit + 1 - inFile.length)
    const found = [...inFile, ...stored]
    const data = found.slice(0, limit).map((key) => viewOfKey(key, now()))
    return uncachedJson({ object: 'list', data, has_more: found.length > limit })
  }

  async function show({ path }: RouteContext): Promise<Response> {
    const id = idOf(path, keyPath)
    const inFile = fileKeys().filter(({ line }) => line === id)
    const key = isFileLine(id) ? (await storedFileKeys(keys, inFile))[0] : await keys.find(id)
    if (key === undefined) throw keyNotFound()
    return uncachedJson(viewOfKey(key, now()))
  }

  async function make(context: RouteContext): Promise<Response> {
    const request = parsed(parseKeyRequest, parseJsonObject(await context.body(bodyBytesMax)))
    if (request.team !== undefined && !teams.has(request.team)) throw noSuchTeam()
    const change = changeBy(context)
    const made = await makeKey(change.keys, request, maker(context))
    change.noted('a key was made', made.id)
    return uncachedJson(made)
  }

  async function rotate(context: RouteContext): Promise<Response> {
    const { id, overlapDays } = await rotationOf(context, keyPath)
    checkStored(fileKeys(), id)
    const change = changeBy(context)
    const made = successorOf(await rotateKey(change.keys, id, { ...maker(context), overlapDays }))
    change.noted('a key was rotated', id)
    return uncachedJson(made)
  }

  async function end(context: RouteContext): Promise<Response> {
    const id = idOf(context.path, keyPath)
    checkStored(fileKeys(), id)
    const change = changeBy(context)
    const ended = await endKey(change.keys, id, maker(context))
    if (ended === undefined) throw keyNotFound()
    change.noted('a key was ended', id)
    return uncachedJson(ended)
  }

  const routes: readonly Pick<ExtensionRoute, 'method' | 'path' | 'handle'>[] = [
    { method: 'GET', path: keysPath, handle: list },
    { method: 'POST', path: keysPath, handle: make },
    { method: 'GET', path: keyPath, handle: show },
    { method: 'DELETE', path: keyPath, handle: end },
    { method: 'POST', path: rotatePath, handle: rotate },
  ]
  return routes.map(({ handle, ...route }) => ({
    ...route,
    isForOwners: true,
    scope: 'keys:write',
    handle: (context) => withLedger(() => handle(context)),
  }))
}

/** Keys of the file stand before all others, by their ids, which are below 0. */
function fileKeysAfter(fileKeys: readonly FileKey[], after: number, most: number): readonly FileKey[] {
  if (after > 0) return []
  const first = fileKeys.filter(({ line }) => after === 0 || line > after)
  return first.toSorted((one, other) => one.line - other.line).slice(0, most)
}

/** @throws {WireError} for a key in access.json */
function checkStored(fileKeys: readonly FileKey[], id: number): void {
  if (isFileLine(id)) throw fileKeys.some(({ line }) => line === id) ? keyInFile() : keyNotFound()
}

interface NumberRange {
  readonly minimum: number
  readonly maximum: number
  readonly fallback: number
}

/** @throws {WireError} 400 */
function queryNumber(query: URLSearchParams, name: string, { minimum, maximum, fallback }: NumberRange): number {
  const text = query.get(name)
  if (text === null) return fallback
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= minimum && value <= maximum) return value
  throw invalidRequest('invalid_value', `'${name}' must be an integer from ${minimum} to ${maximum}.`, name)
}

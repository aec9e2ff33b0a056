import type { KeyEntry, KeysAnswer, MadeKeyEntry, OwnKeysAnswer } from '../../src/http/page/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import { useServices } from '../services.ts'
import { useLoaded, useReloads } from '../ui/use-answer.ts'

/** Whose keys are shown: one's own, those of a team, or all. */
export type Whose = 'mine' | 'all' | `team:${string}`

/** Keys, as far as they are known. */
export interface KeysState {
  /** `undefined`: not known yet. */
  readonly keys: readonly KeyEntry[] | undefined
  /** Ceilings of one's own keys, or of those of the team. */
  readonly ceilings: Pick<OwnKeysAnswer, 'most' | 'days_most'> | undefined
  /** There are more keys than were asked for. */
  readonly isCut: boolean
  /** Why the last question failed. */
  readonly error: string | undefined
  reload(): void
  /** Makes a key of one's own, or of the team. @throws {ApiError} @throws {Unreachable} */
  make(request: KeyRequest): Promise<MadeKeyEntry>
  /** Replaces a key. @param overlapDays that the old one works on @throws {ApiError} @throws {Unreachable} */
  rotate(id: number, overlapDays: number): Promise<MadeKeyEntry>
  /** Ends a key. @throws {ApiError} @throws {Unreachable} */
  end(id: number): Promise<void>
}

/** A key to be made. */
export interface KeyRequest {
  readonly name: string
  readonly days: number
  readonly models?: readonly string[]
  readonly scopes: readonly string[]
}

/** Names of keys by their subject in access.json, such as `key:3`; asked for only if `areWanted`. */
export function useKeyNames(areWanted: boolean): ReadonlyMap<string, string> {
  const { answer } = useLoaded<Found>(
    async (client, signal) => (areWanted ? allKeys(client, signal) : {}),
    `names ${areWanted}`,
  )
  return new Map(answer?.keys?.map(({ line, name }) => [`key:${line}`, name]))
}

interface Found extends Partial<Pick<KeysState, 'keys' | 'ceilings'>> {
  readonly isCut?: boolean
}

const refreshMs = 60_000
const pageSize = 1_000
const pagesMax = 10

/** The keys of the person, or of all, and what can be done with them. */
export function useKeys(whose: Whose): KeysState {
  const { client } = useServices()
  const { answer, error, reload } = useLoaded<Found>(
    (_, signal) => (whose === 'all' ? allKeys(client, signal) : ownKeys(client, teamIn(whose), signal)),
    whose,
  )
  useReloads(reload, refreshMs)
  const path = whose === 'all' ? '/v1/keys' : '/api/keys'
  return {
    keys: answer?.keys,
    ceilings: answer?.ceilings,
    isCut: answer?.isCut === true,
    error,
    reload,
    async make(request) {
      const team = teamIn(whose)
      const made = await client.post<MadeKeyEntry>('/api/keys', { ...request, ...(team === undefined ? {} : { team }) })
      reload()
      return made
    },
    async rotate(id, overlapDays) {
      const made = await client.post<MadeKeyEntry>(`${path}/${id}/rotate`, { overlap_days: overlapDays })
      reload()
      return made
    },
    async end(id) {
      await client.fetch(`${path}/${id}`, { method: 'DELETE' })
      reload()
    },
  }
}

/** The name of the team; `undefined`: not of a team. */
export function teamIn(whose: Whose): string | undefined {
  return whose.startsWith('team:') ? whose.slice('team:'.length) : undefined
}

async function ownKeys(client: ApiClient, team: string | undefined, signal: AbortSignal): Promise<Found> {
  const path = team === undefined ? '/api/keys' : `/api/keys?team=${encodeURIComponent(team)}`
  const { data, most, days_most } = await client.get<OwnKeysAnswer>(path, signal)
  return { keys: data, ceilings: { most, days_most } }
}

/** The API lists the oldest first, a page at a time. */
async function allKeys(client: ApiClient, signal: AbortSignal): Promise<Found> {
  const keys: KeyEntry[] = []
  for (let page = 0; page < pagesMax; page += 1) {
    const after = keys.at(-1)?.id ?? 0
    const { data, has_more } = await client.get<KeysAnswer>(`/v1/keys?limit=${pageSize}&after=${after}`, signal)
    keys.push(...data)
    if (!has_more) return { keys }
  }
  return { keys, isCut: true }
}

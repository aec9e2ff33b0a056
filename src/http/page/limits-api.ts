import { LedgerUnavailable } from '../../ledger/ledger.ts'
import type { StoredCaller } from '../../ledger/use/request-question.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { LimitOverview, LimitRow, LimitUse } from '../../limits/limit-overview.ts'
import { isFileLine } from '../../people/keys/file-key.ts'
import type { Caller } from '../../people/person.ts'
import { usdOf } from '../../prices/money.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkOwner, type EditorCheck } from './owner-check.ts'
import type { LimitRowEntry, LimitsAnswer, LimitUseEntry, NamedSubject } from './page-api.ts'

/** The limits of the service, for its owner. */
export interface LimitsSource {
  /** @param callers those that limits may count apart, the one that asked last first */
  overview(callers: readonly Caller[]): Promise<LimitOverview>
  fault(): LimitsAnswer['fault']
}

/** Where callers of late, and of earlier times, are known. */
export interface KnownCallers {
  /** Those that asked since the start of the service, the one that asked last first. */
  readonly callers: () => Promise<readonly Caller[]>
  /** Callers of earlier times; `undefined`: no use is stored. @throws {LedgerUnavailable} */
  readonly use: () => Pick<UseAsker, 'requests'> | undefined
}

export interface LimitsApiOptions extends EditorCheck, KnownCallers {
  /** `undefined`: there is no folder for access.json. */
  readonly access: () => LimitsSource | undefined
  /** Path of access.json. */
  readonly file: string | undefined
  /** Ids of the configured providers. */
  readonly providers: () => readonly string[]
}

/** Budgets count from before the start of the service. While the database is away, later callers are known. */
export async function allCallers({ callers, use }: KnownCallers): Promise<readonly Caller[]> {
  const stored = (await use()?.requests.callers().catch(ifAway)) ?? []
  return [...(await callers()), ...stored.map(callerOfStored)]
}

/** `GET /api/limits`, for owners (docs/limits.md). */
export function limitsApi(options: LimitsApiOptions): readonly Route[] {
  const { access, file, providers, isOwner, mayEdit } = options

  async function limits(context: HandlerContext): Promise<Response> {
    checkOwner(isOwner, context)
    const source = access()
    const callers = await allCallers(options)
    const overview = await source?.overview(callers)
    const fault = source?.fault()
    const answer: LimitsAnswer = {
      ...(file === undefined ? {} : { file }),
      ...(fault === undefined ? {} : { fault }),
      timeZone: overview?.policy.timeZone ?? 'UTC',
      limits: (overview?.limits ?? []).map(rowEntry),
      teams: Array.from(overview?.policy.teams ?? [], ([name, { leads, members }]) => ({ name, leads, members })),
      ...(source !== undefined && mayEdit() ? { mayEdit: true } : {}),
      named: [...namedCallers(callers), ...providers().map((id) => ({ for: `provider:${id}`, name: id }))],
    }
    return jsonResponse(answer, context.id)
  }

  return [{ method: 'GET', path: '/api/limits', isPublic: false, handle: limits }]
}

function ifAway(error: unknown): undefined {
  if (!(error instanceof LedgerUnavailable)) throw error
}

function callerOfStored(stored: StoredCaller): Caller {
  return 'line' in stored
    ? { name: `key:${stored.name}`, key: { line: stored.line } }
    : { name: stored.name, person: stored }
}

const namedMax = 500

/** People and keys of the database, each once. Names that access.json cannot have are left out. */
function namedCallers(callers: readonly Caller[]): readonly NamedSubject[] {
  const found = new Map<string, string>()
  for (const { name = '', person, key } of callers) {
    if (found.size >= namedMax) break
    if (person !== undefined && /^(?!id:)[^\s,]+$/.test(person.name)) found.set(`person:${person.name}`, person.name)
    if (key !== undefined && !isFileLine(key.line)) found.set(`key:${key.line}`, name.replace(/^key:/, ''))
  }
  return Array.from(found, ([subject, name]) => ({ for: subject, name }))
}

function rowEntry({ subject, models, kind, limit, per, windowEnd, uses, ...row }: LimitRow): LimitRowEntry {
  const amount = kind === 'usd' ? usdOf : (count: number) => count
  return {
    ...row,
    for: subject,
    kind,
    limit: amount(limit),
    ...(per === undefined ? {} : { per }),
    ...(models === undefined ? {} : { models }),
    ...(windowEnd === undefined ? {} : { windowEnds: windowEnd }),
    uses: uses.map((use) => useEntry(use, amount)),
  }
}

function useEntry({ name, used, held, remaining, backAt }: LimitUse, amount: (count: number) => number): LimitUseEntry {
  return {
    name,
    used: amount(used),
    ...(held === undefined ? {} : { held: amount(held) }),
    remaining: amount(remaining),
    ...(backAt === undefined ? {} : { backAt: Math.round(backAt) }),
  }
}

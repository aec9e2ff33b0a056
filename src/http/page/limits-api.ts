import { LedgerUnavailable } from '../../ledger/ledger.ts'
import type { StoredCaller } from '../../ledger/use/request-question.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { LimitOverview, LimitRow, LimitUse } from '../../limits/limit-overview.ts'
import type { Caller } from '../../people/person.ts'
import { usdOf } from '../../prices/money.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkOwner, type EditorCheck } from './owner-check.ts'
import type { LimitRowEntry, LimitsAnswer, LimitUseEntry } from './page-api.ts'

/** The limits of the service, for its owner. */
export interface LimitsSource {
  /** @param callers those that limits may count apart, the one that asked last first */
  overview(callers: readonly Caller[]): Promise<LimitOverview>
  fault(): LimitsAnswer['fault']
}

export interface LimitsApiOptions extends EditorCheck {
  /** `undefined`: there is no folder for access.json. */
  readonly access: () => LimitsSource | undefined
  /** Path of access.json. */
  readonly file: string | undefined
  /** Those that asked since the start of the service, the one that asked last first. */
  readonly callers: () => Promise<readonly Caller[]>
  /** Callers of earlier times; `undefined`: no use is stored. @throws {LedgerUnavailable} */
  readonly use: () => Pick<UseAsker, 'requests'> | undefined
}

/** `GET /api/limits`, for owners (docs/limits.md). */
export function limitsApi({ access, file, callers, use, isOwner, mayEdit }: LimitsApiOptions): readonly Route[] {
  /** Budgets count from before the start of the service. While the database is away, later callers are shown. */
  async function allCallers(): Promise<readonly Caller[]> {
    const stored = (await use()?.requests.callers().catch(ifAway)) ?? []
    return [...(await callers()), ...stored.map(callerOfStored)]
  }

  async function limits(context: HandlerContext): Promise<Response> {
    checkOwner(isOwner, context)
    const source = access()
    const overview = await source?.overview(await allCallers())
    const fault = source?.fault()
    const answer: LimitsAnswer = {
      ...(file === undefined ? {} : { file }),
      ...(fault === undefined ? {} : { fault }),
      timeZone: overview?.policy.timeZone ?? 'UTC',
      limits: (overview?.limits ?? []).map(rowEntry),
      teams: Array.from(overview?.policy.teams ?? [], ([name, { leads, members }]) => ({ name, leads, members })),
      ...(source !== undefined && mayEdit() ? { mayEdit: true } : {}),
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

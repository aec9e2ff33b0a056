import type { LimitOverview, LimitRow, LimitUse } from '../../limits/limit-overview.ts'
import type { CallerIdentity } from '../../limits/named-limits.ts'
import type { RequestRecord } from '../../observe/record.ts'
import { usdOf } from '../../prices/money.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkOwner, type EditorCheck } from './owner-check.ts'
import type { LimitRowEntry, LimitsAnswer, LimitUseEntry } from './page-api.ts'

/** The limits of the service, for its owner. */
export interface LimitsSource {
  /** @param callers those that limits may count apart, the one that asked last first */
  overview(callers: readonly CallerIdentity[]): Promise<LimitOverview>
  fault(): LimitsAnswer['fault']
}

/** Options of {@link limitsApi}. */
export interface LimitsApiOptions extends EditorCheck {
  /** `undefined`: there is no folder for access.json. */
  readonly access: () => LimitsSource | undefined
  /** Path of access.json. */
  readonly file: string | undefined
  readonly callers: () => Promise<readonly Pick<RequestRecord, 'user' | 'userId' | 'line' | 'person'>[]>
}

/** `GET /api/limits`, for owners (docs/limits.md). */
export function limitsApi({ access, file, callers, isOwner, mayEdit }: LimitsApiOptions): readonly Route[] {
  async function limits(context: HandlerContext): Promise<Response> {
    checkOwner(isOwner, context)
    const source = access()
    const overview = await source?.overview((await callers()).map(identityOf))
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

function identityOf({
  user,
  userId,
  line,
  person,
}: Pick<RequestRecord, 'user' | 'userId' | 'line' | 'person'>): CallerIdentity {
  return {
    ...(user === undefined ? {} : { user }),
    ...(userId === undefined ? {} : { userId }),
    ...(line === undefined ? {} : { key: { line, ...(person === undefined ? {} : { person }) } }),
  }
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

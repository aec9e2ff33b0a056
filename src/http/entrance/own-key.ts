import { formats } from '../../formats/format-list.ts'
import type { BudgetReport, MoneyLimits } from '../../limits/budgets/money-limits.ts'
import type { ContentRules, ContentTerms } from '../../limits/content-rules.ts'
import type { Limiter, LimitState } from '../../limits/limiter.ts'
import type { Caller } from '../../people/person.ts'
import { usdOf } from '../../prices/money.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'

/** The active limits. `undefined`: no limits of that kind. */
export interface LimitsInForce {
  limiter(): Limiter | undefined
  budgets(): Pick<MoneyLimits, 'stateOf'> | undefined
  contentRules(): ContentRules | undefined
}

/**
 * `GET /v1/key`: the caller's grants, the state of its limits, and whether content is kept (docs/limits.md). Keys need
 * no scope for it.
 */
export function ownKeyRoute(inForce: () => LimitsInForce | undefined): Route {
  return {
    method: 'GET',
    path: '/v1/key',
    isPublic: false,
    isForEachKey: true,
    format: formats.chat,
    async handle({ id, caller }) {
      const limits = (await inForce()?.limiter()?.stateOf(caller)) ?? []
      const budgets = (await inForce()?.budgets()?.stateOf(caller)) ?? []
      const all = [...limits.map(wireLimit), ...budgets.map(wireBudget)]
      const content = wireContent(inForce()?.contentRules()?.termsOf(caller))
      return jsonResponse({ object: 'key', ...callerFacts(caller), limits: all, content }, id)
    },
  }
}

function callerFacts({ key, keyFacts, name: user }: Caller): Readonly<Record<string, unknown>> {
  if (key === undefined || keyFacts === undefined)
    return { kind: user === undefined ? 'anonymous' : 'person', id: null, name: user ?? null }
  const { line, team = null } = key
  const { id, name, expires, grants } = keyFacts
  const { models = null, providers = null, networks = null, scopes } = grants
  return {
    kind: 'key',
    id,
    line,
    name,
    team,
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    scopes,
    models,
    providers,
    networks,
  }
}

function wireContent(terms: ContentTerms | undefined) {
  return terms === undefined ? null : { kept_seconds: terms.keepMs / 1_000 }
}

const periods: ReadonlyMap<number, string> = new Map([
  [60_000, 'minute'],
  [3_600_000, 'hour'],
  [86_400_000, 'day'],
])

function wireLimit({ subject, kind, limit, perMs, models, remaining, resetMs }: LimitState) {
  return {
    for: subject,
    kind,
    limit,
    per: periods.get(perMs) ?? null,
    models: models ?? null,
    remaining,
    reset_seconds: Math.ceil(resetMs) / 1_000,
  }
}

/** Only amounts of the caller's own budgets are shown. */
function wireBudget({ subject, per, models, windowEnd, amounts }: BudgetReport) {
  const { limit, used, held } = amounts ?? {}
  const usd = (nano: number | undefined) => (nano === undefined ? null : usdOf(nano))
  return {
    for: subject,
    kind: 'usd',
    limit: usd(limit),
    per,
    models: models ?? null,
    remaining: limit === undefined ? null : usdOf(Math.max(0, limit - (used ?? 0) - (held ?? 0))),
    used: usd(used),
    held: usd(held),
    window_ends: windowEnd === undefined ? null : new Date(windowEnd).toISOString(),
  }
}

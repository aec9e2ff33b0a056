import type { Visitor } from '../../extensions/extension.ts'
import { formats } from '../../formats/format-list.ts'
import type { Limiter, LimitState } from '../../limits/limiter.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'

/** `GET /v1/key`: what the caller may do, and the state of its limits (docs/limits.md). Keys need no scope for it. */
export function ownKeyRoute(limiter: () => Limiter | undefined): Route {
  return {
    method: 'GET',
    path: '/v1/key',
    isPublic: false,
    isForEachKey: true,
    format: formats.chat,
    async handle({ id, visitor }) {
      const limits = (await limiter()?.stateOf(visitor ?? {})) ?? []
      return jsonResponse({ object: 'key', ...callerFacts(visitor ?? {}), limits: limits.map(wireLimit) }, id)
    },
  }
}

function callerFacts({ key, user }: Partial<Visitor>): Readonly<Record<string, unknown>> {
  if (key === undefined) return { kind: user === undefined ? 'anonymous' : 'person', id: null, name: user ?? null }
  const { id, line, name, expires, grants } = key
  const { models = null, providers = null, networks = null, scopes } = grants
  return {
    kind: 'key',
    id,
    line,
    name,
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    scopes,
    models,
    providers,
    networks,
  }
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

import { WireError, invalidRequest } from '../../formats/error.ts'
import type { OutcomeQuestion } from '../../ledger/use/outcome-question.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { UseFilter, UseGroup, UseQuestion, UseTeam } from '../../ledger/use/use-question.ts'
import { signedInPerson, type Person } from '../../people/person.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { csvFile } from './csv.ts'
import { readLedger } from './ledger-answer.ts'
import { ledgerScope } from './ledger-scope.ts'
import { choiceOf, dateOf, timeOf } from './query.ts'
import { csvHead, csvLines, dayNumber, usageAnswer } from './usage-entries.ts'

export interface UsageApiOptions {
  /** `undefined`: no use is kept. */
  readonly use: () => UseAsker | undefined
  /** Owners see the use of all. */
  readonly isOwner: (context: HandlerContext) => boolean
  /** All teams. */
  readonly teams: () => readonly UseTeam[]
  /** The use of a team, for its leads and owners; `undefined`: the user may not see it. */
  readonly teamUse: (person: Person, team: string) => UseFilter | undefined
  /** Unix milliseconds. */
  readonly now: () => number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const rowsMax = 20_000
const groups = ['model', 'provider', 'person', 'team', 'key', 'session', 'all'] as const satisfies readonly UseGroup[]
/** Longest span of a question, by unit. */
const spanMsMax = { hour: 100 * dayMs, day: 3_660 * dayMs } as const
const spanMsDefault = { hour: dayMs, day: 6 * dayMs } as const
/** Span of each question for a file, which is written piece by piece. */
const pieceMs = { hour: dayMs, day: 7 * dayMs } as const

/** A span of time in Unix milliseconds; of days, the midnights in UTC of their dates. */
interface Span {
  readonly unit: 'hour' | 'day'
  readonly from: number
  readonly to: number
}

/**
 * `GET /api/usage` (docs/ledger.md): the use of all for owners, else of the person or the key that asks; of a team for
 * its leads.
 */
export function usageApi({ use, isOwner, teams, teamUse, now }: UsageApiOptions): readonly Route[] {
  /** Of others than owners, all is of no team: teams are not theirs to see. */
  const teamsOf = (filter: UseFilter): readonly UseTeam[] => (isOfAll(filter) ? teams() : [])

  async function usage(context: HandlerContext): Promise<Response> {
    const asker = use()
    if (asker === undefined)
      throw new WireError(404, 'invalid_request_error', 'usage_not_kept', 'No use is kept: start svc with --auth keys')
    const query = new URL(context.request.url).searchParams
    const span = spanOf(query, now())
    const by = choiceOf(query, 'by', groups, 'model')
    const filter = filterOf(context, query.get('team'), { isOwner, teamUse })
    const more = { by, ...filter, ...(by === 'team' ? { teams: teamsOf(filter) } : {}) }
    if (choiceOf(query, 'format', ['json', 'csv'], 'json') === 'csv') return fileOf(asker, span, more, context)
    const question = questionOf(span, { rowsMax, ...more })
    const answer = await readLedger('The use', async () => {
      const found = await asker.read(question)
      return usageAnswer(question, found, isOfAll(filter) ? await asker.outcomes(outcomesOf(question)) : undefined)
    })
    return jsonResponse(answer, context.id)
  }

  return [{ method: 'GET', path: '/api/usage', isPublic: false, scope: 'usage:read', handle: usage }]
}

/** Speed and failures are not kept by people and keys. */
function isOfAll({ line, people, userIds, team }: UseFilter): boolean {
  return [line, people, userIds, team].every((filter) => filter === undefined)
}

/** The question for speed and failures in the same time. */
export function outcomesOf({ from, to, unit, by }: UseQuestion): OutcomeQuestion {
  return { from, to, unit, by: by === 'model' || by === 'provider' ? by : 'all' }
}

function filterOf(
  context: HandlerContext,
  team: string | null,
  { isOwner, teamUse }: Pick<UsageApiOptions, 'isOwner' | 'teamUse'>,
): UseFilter {
  if (team !== null) {
    const person = signedInPerson(context.caller)
    const found = person && teamUse(person, team)
    if (found !== undefined) return found
    throw new WireError(
      403,
      'permission_error',
      'not_a_lead',
      'Only leads of a team of access.json, and owners, may do this',
    )
  }
  return ledgerScope(context, isOwner)
}

function questionOf({ unit, from, to }: Span, more: Omit<UseQuestion, 'from' | 'to' | 'unit'>): UseQuestion {
  return unit === 'hour' ? { unit, from, to, ...more } : { unit, from: dayNumber(from), to: dayNumber(to), ...more }
}

/** A file of all, in pieces. */
function fileOf(
  asker: UseAsker,
  { unit, from, to }: Span,
  more: Omit<UseQuestion, 'from' | 'to' | 'unit' | 'rowsMax'>,
  context: HandlerContext,
): Response {
  let start = from
  return csvFile(context, {
    name: `usage-by-${more.by}.csv`,
    head: csvHead,
    async next() {
      if (start > to) return undefined
      const end = Math.min(to, start + pieceMs[unit] - 1)
      const question = questionOf({ unit, from: start, to: end }, { rowsMax: Number.MAX_SAFE_INTEGER, ...more })
      start = end + 1
      return csvLines(usageAnswer(question, await asker.read(question)).rows)
    },
  })
}

/** @throws {WireError} 400 */
function spanOf(query: URLSearchParams, now: number): Span {
  const unit = choiceOf(query, 'unit', ['day', 'hour'], 'day')
  const instantOf = unit === 'day' ? dateOf : timeOf
  // Zones are up to 14 hours ahead of UTC: the last day may have begun there.
  const to = instantOf(query, 'to') ?? now + (unit === 'day' ? 14 * hourMs : 0)
  const from = instantOf(query, 'from') ?? Math.min(now, to) - spanMsDefault[unit]
  if (from > to) throw invalidRequest('invalid_value', "'from' is after 'to'.", 'from')
  if (to - from > spanMsMax[unit] + dayMs)
    throw invalidRequest('invalid_value', `From 'from' to 'to' are at most ${spanMsMax[unit] / dayMs} days.`, 'from')
  return { unit, from, to }
}

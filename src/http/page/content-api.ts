import { WireError } from '../../formats/error.ts'
import type { ContentQuestion, KeptContent } from '../../ledger/content/content-question.ts'
import { LedgerUnavailable, type AuditMark, type Ledger } from '../../ledger/ledger.ts'
import type { UseAsker } from '../../ledger/use/use-asker.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { readLedger } from './ledger-answer.ts'
import { ledgerId } from './ledger-scope.ts'
import type { OwnerCheck } from './owner-check.ts'
import type { ContentAnswer } from './page-api.ts'

export interface ContentApiOptions {
  /** `undefined`: there is no database. */
  readonly use: () => Pick<UseAsker, 'content'> | undefined
  /** Records a look at the content of others; `undefined`: none can be recorded. */
  readonly record: () => Ledger['record'] | undefined
  /** Called with each recorded look, for the log. */
  readonly onLook: (look: RecordedLook) => void
  readonly isOwner: OwnerCheck
  /** Unix milliseconds. */
  readonly now: () => number
}

/** A recorded look at the content of others. */
export interface RecordedLook extends AuditMark {
  /** Id of the request. */
  readonly request: string
  readonly by: string | undefined
}

const beginning = '/api/requests/'
const end = '/content'
const timeForm = /^\d{1,16}$/

/**
 * `GET /api/requests/{id}/content` (docs/privacy.md): people see the content of their own requests, keys that of their
 * line, and owners all of it. A look of an owner at the content of others is recorded before the answer.
 */
export function contentApi({ use, record, onLook, isOwner, now }: ContentApiOptions): readonly Route[] {
  async function content(context: HandlerContext): Promise<Response> {
    const id = context.path.slice(beginning.length, -end.length)
    const asked = new URL(context.request.url).searchParams.get('time') ?? ''
    const time = timeForm.test(asked) ? { time: Number(asked) } : {}
    const own = ownContent(context)
    const seesAll = context.caller.access === undefined && isOwner(context)
    const found = await find({ id, ...time, ...(seesAll ? {} : (own ?? { line: -1 })) })
    if (seesAll && !isOwn(found, own)) await recordLook(id, found, context)
    return jsonResponse(answerOf(found), context.id)
  }

  async function find(question: ContentQuestion): Promise<KeptContent> {
    const asker = use()
    const found = asker && (await readLedger('The content', () => asker.content(question)))
    if (found !== undefined) return found
    throw new WireError(404, 'invalid_request_error', 'content_not_kept', 'No content of this request is kept')
  }

  /** @throws {WireError} 503: without an entry there is no look */
  async function recordLook(
    id: string,
    { time, line, person }: KeptContent,
    { caller: { name: user } }: HandlerContext,
  ): Promise<void> {
    try {
      const recorded = await record()?.({
        time: now(),
        actor: user ?? 'without sign-in',
        via: 'page',
        action: 'content.read',
        object: id,
        after: { time, ...(line === 0 ? {} : { line }), ...(person === 0 ? {} : { person }) },
      })
      if (recorded !== undefined) return onLook({ request: id, by: user, ...recorded })
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
    }
    const message = 'The content is not shown, since the look cannot be recorded now; see the service log'
    throw new WireError(503, 'overloaded_error', 'store_unavailable', message, { headers: { 'retry-after': '1' } })
  }

  return [{ method: 'GET', path: `${beginning}{id}${end}`, isPublic: false, scope: 'log:read', handle: content }]
}

type Own = Pick<ContentQuestion, 'line' | 'people'>

/** The filter for the caller's own content, by the line of the key or by the person; `undefined`: there is neither. */
function ownContent({ caller }: HandlerContext): Own | undefined {
  if (caller.access !== undefined) return { line: caller.key?.line ?? -1 }
  return caller.person === undefined ? undefined : { people: [ledgerId(caller)] }
}

function isOwn({ personId }: KeptContent, own: Own | undefined): boolean {
  return personId !== undefined && own?.people?.includes(personId) === true
}

function answerOf({ time, expires, question, answer, isQuestionCut, isAnswerCut }: KeptContent): ContentAnswer {
  return {
    time,
    expires,
    question,
    answer,
    ...(isQuestionCut ? { isQuestionCut } : {}),
    ...(isAnswerCut ? { isAnswerCut } : {}),
  }
}

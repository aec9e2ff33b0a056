import { JsonCursor } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import type { ReasoningHistory } from '../../profiles/profile.ts'
import { otherLimits } from '../answer-limit.ts'
import { appendMessage } from '../append-message.ts'
import type { Ask } from '../ask.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { CheckedNames, MemberList, memberName } from '../checked-names.ts'
import { editAsk } from '../edit-ask.ts'
import { invalidRequest } from '../error.ts'
import { missing } from '../request-fault.ts'
import { spliceRequest, type RequestChanges } from '../splice-request.ts'
import { fieldNames, fields, type RequestFacts } from './request-fields.ts'
import { reasoningEdits, type MessageReasoning } from './request-reasoning.ts'

/** A checked request (docs/api.md). The caller's bytes pass through; only these facts are read from them. */
export interface ChatRequest extends Ask {
  readonly format: 'chat'
  /** `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** Offsets of the reasoning of earlier answers in its messages. */
  readonly reasoning: MessageReasoning
  /** A tool that it declares is a custom one, whose input is a text. */
  readonly hasCustomTools: boolean
  /**
   * It is written in another way than this format's, which `caller-forms.ts` mends. `input`: it is a request of
   * Responses. `parts`: its tools or parts of content are. Absent: the usual case.
   */
  readonly otherForm?: 'input' | 'parts' | undefined
}

/** Changes of a chat request for one upstream. */
export interface ChatRequestChanges extends RequestChanges {
  /** Default: `keep`. */
  readonly reasoning?: ReasoningHistory
}

/**
 * Checks a request (docs/api.md) in place. For bodies up to 1 MiB; {@link parseLargeChatRequest} takes larger ones
 * without blocking other requests. Unknown members pass unread; 10,000 members at most. Checked members must not be
 * repeated, nor be spelled in another way ({@link CheckedNames}).
 *
 * @throws {WireError} 400: `invalid_json` first, then the first fault in the body
 */
export function parseChatRequest(body: Uint8Array): ChatRequest {
  return checkBody(body, readRequest)
}

/**
 * As parseChatRequest, awaiting `pause` between pieces of work of a few milliseconds.
 *
 * @throws {WireError} as parseChatRequest
 */
export function parseLargeChatRequest(body: Uint8Array, pause: () => Promise<void>): Promise<ChatRequest> {
  return checkLargeBody(body, readRequest, pause)
}

/**
 * Returns the request's body for one upstream, in pieces: the caller's bytes with the changes. Without changes it is
 * the caller's bytes.
 */
export function encodeChatRequest(request: ChatRequest, changes: ChatRequestChanges): readonly Uint8Array[] {
  const edits = reasoningEdits(request.body, request.reasoning, changes.reasoning ?? 'keep')
  return spliceRequest(request, changes, { member: 'messages', edits })
}

/** Removes all reasoning of earlier answers. `undefined` without one. */
export function chatWithoutReasoning(request: ChatRequest): ChatRequest | undefined {
  const { members, bare } = request.reasoning
  if (members.length === 0) return undefined
  const { changed, moved } = editAsk(request, reasoningEdits(request.body, request.reasoning, 'drop'))
  const braces = new Set([...bare, ...members.map(({ message }) => message)])
  const sorted = [...braces].sort((one, other) => one - other)
  return { ...request, ...changed, reasoning: { members: [], bare: sorted.map(moved) }, hasReasoning: undefined }
}

/** Adds a message after the last one: an assistant message without reasoning, as JSON. */
export function appendAnswer(request: ChatRequest, message: Uint8Array): ChatRequest {
  const appended = appendMessage(request, 'messages', message)
  if (appended === undefined) return request
  const { changed, start } = appended
  const { reasoning } = request
  return { ...request, ...changed, reasoning: { ...reasoning, bare: [...reasoning.bare, start] } }
}

/** Checked fields, and those that are read later: for the cost, for a target's profile, for a translation. */
const checked = new CheckedNames([
  ...fieldNames,
  ...['n', 'service_tier', 'functions', 'function_call', 'response_format', 'modalities'],
  ...['parallel_tool_calls', 'thinking', 'store', 'web_search_options', 'reasoning', 'chat_template_kwargs', 'top_k'],
  ...['user', 'metadata', ...otherLimits],
])
/** Limit of top-level members. */
const membersMax = 10_000

function* readRequest(cursor: JsonCursor, pace: Pace): Walk<ChatRequest> {
  if (cursor.peek() !== 'object') throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
  const list = new MemberList(checked, membersMax)
  const { members } = list
  const facts: RequestFacts = {
    model: undefined,
    stream: false,
    includeUsage: false,
    hasMessages: false,
    hasCustomTools: false,
    hasOtherForms: false,
    reasoning: { members: [], bare: [] },
  }
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const start = cursor.nameStart
    const code = cursor.nameCode(checked.table)
    const field = code === -1 ? undefined : fields[code]
    const name = memberName(cursor, checked.names, code)
    const valueStart = cursor.position
    switch (field?.kind) {
      case undefined:
        if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
        break
      case 'value':
        field.read(cursor, name, valueStart, facts)
        break
      case 'text':
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        field.read(cursor, name, valueStart, facts)
        break
      case 'walk':
        yield* field.read(cursor, pace, facts)
    }
    list.add({ name, start, valueStart, end: cursor.position }, code)
    if (cursor.position >= pace.limit) yield pace
  }
  cursor.end()
  const { model, stream, includeUsage, reasoning, hasCustomTools } = facts
  if (model === undefined) throw missing('model')
  const otherForm = otherFormOf(facts, members)
  return {
    format: 'chat',
    body: cursor.bytes,
    model,
    stream,
    includeUsage,
    members,
    reasoning,
    hasReasoning: factOf(reasoning),
    hasCustomTools,
    otherForm,
  }
}

function otherFormOf(
  { hasMessages, hasOtherForms }: RequestFacts,
  members: MemberList['members'],
): ChatRequest['otherForm'] {
  if (!hasMessages) {
    if (members.some(({ name }) => name === 'input')) return 'input'
    throw missing('messages')
  }
  return hasOtherForms ? 'parts' : undefined
}

function factOf({ members }: MessageReasoning): Ask['hasReasoning'] {
  return members.length === 0 ? undefined : 'own'
}

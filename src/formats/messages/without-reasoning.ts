import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import { editAsk } from '../edit-ask.ts'
import { listOf, objectOf, objectsOf, parseJsonBytes } from '../exact-json.ts'
import { sealMark } from '../opaque-seal.ts'
import { movedSpans, reasoningFact, removeElements, type ReasoningSpan } from '../reasoning-spans.ts'
import type { MessagesRequest } from './request.ts'

/** Claude Code's own text for a message without content, which Anthropic refuses. */
const filler = encode('{"type":"text","text":"(no content)"}')

/**
 * Removes thinking of earlier answers: all, that of providers of other formats and without a signature (`foreign`), or
 * that of providers of other formats alone (`sealed`). Anthropic refuses a request with a budget for thinking whose
 * last tool use began without thinking, so thinking is disabled for such a request.
 *
 * @returns undefined if there is nothing to change
 */
export function messagesWithoutReasoning(
  request: MessagesRequest,
  which: 'all' | 'foreign' | 'sealed',
): MessagesRequest | undefined {
  const { body, reasoning } = request
  const removed = which === 'all' ? reasoning : reasoning.filter((span) => isRemoved(body, span, which))
  if (removed.length === 0) return withoutBudget(request)
  const rest = reasoning.filter((span) => !removed.includes(span))
  const next = edited(request, removeElements(body, removed, filler), { reasoning: rest })
  return withoutBudget(next) ?? next
}

function isRemoved(body: Uint8Array, span: ReasoningSpan, which: 'foreign' | 'sealed'): boolean {
  return span.isForeign && (which === 'foreign' || isSealedSpan(body, span))
}

/** Whether a block was wrapped by this service: it is of a provider of another format. */
export function isSealedSpan(body: Uint8Array, { start, end, isForeign }: ReasoningSpan): boolean {
  return isForeign && Buffer.from(body.buffer, body.byteOffset + start, end - start).includes(`"${sealMark}`)
}

/** @param reasoning spans that stay, by their offsets before the edits */
function edited(request: MessagesRequest, edits: readonly Edit[], { reasoning }: Pick<MessagesRequest, 'reasoning'>) {
  const { changed, moved } = editAsk(request, edits)
  return { ...request, ...changed, reasoning: movedSpans(reasoning, moved), ...reasoningFact(reasoning) }
}

/** Disables thinking where it would be refused. Undefined: it is not. */
function withoutBudget(request: MessagesRequest): MessagesRequest | undefined {
  if (objectOf(valueOf(request, 'thinking'))['type'] !== 'enabled' || !isToolUseWithoutThinking(request))
    return undefined
  // Clearing old thinking needs thinking, too.
  const edits = request.members.flatMap(({ name, valueStart, end }) => {
    const replacement = replacements[name]
    return replacement === undefined ? [] : [{ start: valueStart, end, replacement }]
  })
  return edited(request, edits, request)
}

const replacements: Readonly<Record<string, Uint8Array | undefined>> = {
  thinking: encode('{"type":"disabled"}'),
  context_management: encode('null'),
}

/** Whether the request ends with results of tools, and the message that called them does not begin with thinking. */
function isToolUseWithoutThinking(request: MessagesRequest): boolean {
  const messages = objectsOf(valueOf(request, 'messages'))
  const isOpen = objectsOf(messages.at(-1)?.['content']).some(({ type }) => type === 'tool_result')
  const [first] = listOf(messages.findLast(({ role }) => role === 'assistant')?.['content'])
  return isOpen && !['thinking', 'redacted_thinking'].includes(String(objectOf(first)['type']))
}

function valueOf({ body, members }: MessagesRequest, wanted: string): unknown {
  const member = members.findLast(({ name }) => name === wanted)
  return member === undefined ? undefined : parseJsonBytes(body.subarray(member.valueStart, member.end))
}

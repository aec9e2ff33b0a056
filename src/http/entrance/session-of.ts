import type { Ask } from '../../formats/ask.ts'

/**
 * Headers in which agents name the session that a request belongs to, in the order in which they count: Claude Code,
 * opencode and others, Codex, pi, and those of LiteLLM's clients.
 */
const sessionHeaders = [
  'x-claude-code-session-id',
  'x-session-id',
  'session-id',
  'session_id',
  'x-session-affinity',
  'x-litellm-session-id',
] as const

const cacheKeyName = 'prompt_cache_key'
/** UUIDs and ids such as `ses_…`: one word of visible ASCII. Everything else names no session. */
const sessionId = /^[!-~]{1,128}$/
/** Such an id with its quotes. Longer values are not decoded. */
const valueBytesMax = 130
const decoder = new TextDecoder()

/** The session that the headers name. */
export function sessionOf(headers: Headers): string | undefined {
  for (const name of sessionHeaders) {
    const value = headers.get(name)
    if (value !== null && sessionId.test(value)) return value
  }
  return undefined
}

/** `prompt_cache_key` of a request: agents without a header of their own name their session there. */
export function sessionOfBody({ body, members }: Pick<Ask, 'body' | 'members'>): string | undefined {
  const member = members.find(({ name }) => name === cacheKeyName)
  if (member === undefined) return undefined
  if (member.end - member.valueStart > valueBytesMax) return undefined
  const text = decoder.decode(body.subarray(member.valueStart, member.end))
  // A text with escapes is no such id.
  const value = text.slice(1, -1)
  return text.startsWith('"') && !value.includes('\\') && sessionId.test(value) ? value : undefined
}

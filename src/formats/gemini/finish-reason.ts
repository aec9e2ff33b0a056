import type { FinishEvent, FinishReason } from '../answer.ts'

const filtered: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
])
/** Gemini discarded the model's output. */
const broken: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
])

/** Reads a `finishReason`. A `STOP` after function calls is `tool_calls`; an unknown reason is `stop`. */
export function readFinishReason(reason: string | undefined, hasCalls: boolean): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (reason !== undefined && (filtered.has(reason) || reason.startsWith('IMAGE_'))) return 'content_filter'
  return hasCalls ? 'tool_calls' : 'stop'
}

/** Whether Gemini discarded the model's output. */
export function isDiscarded(reason: string | undefined): boolean {
  return reason !== undefined && broken.has(reason)
}

/** The `finishReason` of an answer. A reason that only the upstream knows is `OTHER`: the answer may be incomplete. */
export function writeGeminiFinishReason({ reason }: Pick<FinishEvent, 'reason'>): string {
  switch (reason) {
    case 'stop':
    case 'tool_calls':
      return 'STOP'
    case 'length':
      return 'MAX_TOKENS'
    case 'content_filter':
      return 'SAFETY'
    case 'other':
      return 'OTHER'
  }
}

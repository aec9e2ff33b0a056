import type { Conversation } from './conversation.ts'
import type { ChangeNotes } from './format.ts'
import { untranslatable } from './untranslatable.ts'

/** Fields that only tune an answer, and their names in `x-svc-dropped`. */
const tuningNames = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logprobs: 'logprobs',
} as const

type TuningField = keyof typeof tuningNames

/** Notes the fields of a conversation that a writer leaves out, and those of chat completions that only they have. */
export function noteLeftOut(
  conversation: Conversation,
  fields: readonly TuningField[],
  changes: ChangeNotes | undefined,
): void {
  for (const field of fields) if (conversation[field] !== undefined) changes?.drop(tuningNames[field])
  if (conversation.format === 'chat' && conversation.own['logit_bias'] !== undefined) changes?.drop('logit_bias')
}

/**
 * Refuses a request that would lose all its tools: without them it is another one, which a model would answer from
 * memory.
 *
 * @param kept number of tools that are sent
 * @throws {UpstreamFailure} `bad_request`
 */
export function keepTools(kept: number, declared: readonly string[]): void {
  const [first] = declared
  if (kept > 0 || first === undefined) return
  throw untranslatable(`A request with no tool but '${first.slice(0, 64)}'`, { field: 'tools' })
}

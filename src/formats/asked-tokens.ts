import { isRecord } from '../base/json-value.ts'
import type { Ask, FormatName, Member } from './ask.ts'
import { promptTokensOf } from './estimate-tokens.ts'

/** The tokens that a request may take, as far as the request tells. */
export interface AskedTokens {
  /** Estimated from the length of its texts. */
  readonly prompt: number
  /** The most that its answer may have, or 1,024 if the request names no number. 0 for answers without tokens. */
  readonly answer: number
}

const answerTokensDefault = 1_024
const tokensMax = 1e9
/** Longest `generationConfig` that is read. */
const configBytesMax = 64 * 1024

/** Where a format states the most tokens of an answer, by the first name that is there, and the number of answers. */
interface AnswerFields {
  readonly most: readonly string[]
  readonly answers?: string
  /** Names of the object that has the fields. Absent: the top level. */
  readonly within?: readonly string[]
}

const fieldsByFormat: Partial<Record<FormatName, AnswerFields>> = {
  chat: { most: ['max_completion_tokens', 'max_tokens'], answers: 'n' },
  completions: { most: ['max_tokens'], answers: 'n' },
  messages: { most: ['max_tokens'] },
  responses: { most: ['max_output_tokens'] },
  compact: { most: [] },
  gemini: {
    most: ['maxOutputTokens', 'max_output_tokens'],
    answers: 'candidateCount',
    within: ['generationConfig', 'generation_config'],
  },
}

/** The tokens that a checked request may take. Costs a look at the names of its members, and two numbers. */
export function askedTokens(ask: Ask): AskedTokens {
  const prompt = promptTokensOf(ask)
  const fields = fieldsByFormat[ask.format]
  if (fields === undefined) return { prompt, answer: 0 }
  const read = fields.within === undefined ? topLevel(ask) : nested(ask, fields.within)
  const most = fields.most.map(read).find((number) => number !== undefined) ?? answerTokensDefault
  const answers = fields.answers === undefined ? 1 : (read(fields.answers) ?? 1)
  return { prompt, answer: Math.min(tokensMax, most * Math.max(1, answers)) }
}

function topLevel(ask: Ask): (name: string) => number | undefined {
  return (name) => {
    const member = memberOf(ask, [name])
    return member === undefined ? undefined : countOf(Number(textOf(ask, member)))
  }
}

function nested(ask: Ask, names: readonly string[]): (name: string) => number | undefined {
  const member = memberOf(ask, names)
  if (member === undefined || member.end - member.valueStart > configBytesMax) return () => undefined
  const value: unknown = JSON.parse(textOf(ask, member))
  return (name) => (isRecord(value) && Object.hasOwn(value, name) ? countOf(value[name]) : undefined)
}

function memberOf({ members }: Ask, names: readonly string[]): Member | undefined {
  return members.findLast(({ name }) => names.includes(name))
}

function textOf({ body }: Ask, { valueStart, end }: Member): string {
  return new TextDecoder().decode(body.subarray(valueStart, end))
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= tokensMax ? value : undefined
}

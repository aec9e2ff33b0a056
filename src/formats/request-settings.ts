import { latin1 } from '../bytes/text.ts'
import type { Ask } from './ask.ts'

/** Settings of a request for its spans. None of them can hold text of the caller. */
export interface RequestSettings {
  readonly answerTokensMax?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly seed?: number
  readonly choices?: number
}

/** Members of requests, by their names in all formats. */
const names: ReadonlyMap<string, keyof RequestSettings> = new Map([
  ['max_tokens', 'answerTokensMax'],
  ['max_completion_tokens', 'answerTokensMax'],
  ['max_output_tokens', 'answerTokensMax'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['presence_penalty', 'presencePenalty'],
  ['seed', 'seed'],
  ['n', 'choices'],
])

/** Longer numbers are none that a model takes. */
const numberBytesMax = 24

/** The settings among the members of a request, if they are numbers. Those of Gemini lie deeper, and are not read. */
export function readRequestSettings({ body, members }: Ask): RequestSettings | undefined {
  let settings: { -readonly [Name in keyof RequestSettings]: number } | undefined
  for (const { name, valueStart, end } of members) {
    const setting = names.get(name)
    if (setting === undefined || end - valueStart > numberBytesMax) continue
    const value = Number(latin1(body, valueStart, end) || NaN)
    if (Number.isFinite(value)) (settings ??= {})[setting] = value
  }
  return settings
}

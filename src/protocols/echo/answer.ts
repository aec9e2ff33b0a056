import type { AnswerEvent, FinishEvent } from '../../formats/answer.ts'
import type { AnswerFormat, Conversation, FunctionTool, Tools, Turn } from '../../formats/conversation.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import { sampleValue } from './sample-value.ts'

const choicesMax = 128

/**
 * The echo's answer, in pieces of a word. A word counts as a token.
 *
 * - A tool that must be called is called, with arguments that fit its schema.
 * - An answer that must be JSON is a value that fits its schema.
 * - Any other answer is the text of the last message, up to the first stop string.
 *
 * @param created Unix seconds
 * @throws {UpstreamFailure} `bad_request` for a schema that no value was found for, and for more than 128 choices
 */
export function echoAnswer(conversation: Conversation, created: number): readonly (readonly AnswerEvent[])[] {
  const { choices = 1 } = conversation
  if (choices > choicesMax) throw new UpstreamFailure('bad_request', `the echo has at most ${choicesMax} choices`)
  const prompt = conversation.turns.reduce((sum, turn) => sum + words(textOf(turn)).length, 0)
  const answer = answerOf(conversation)
  const all = words(answer.text)
  const { maxTokens = all.length } = conversation
  const said = all.slice(0, Math.max(0, maxTokens))
  const isCut = said.length < all.length
  const completion = said.length * choices
  return [
    [{ kind: 'start', id: undefined, model: undefined, created }],
    ...Array.from({ length: choices }, (_, choice) => writeChoice(answer, said, isCut, choice)).flat(),
    [{ kind: 'usage', counts: { prompt, completion, total: prompt + completion }, own: undefined }],
  ]
}

/** The content of an echo's answer: text, or the arguments of a call. */
interface Answer {
  readonly text: string
  /** The function to call. */
  readonly called?: string
  /** The text ended before a stop string. */
  readonly isStopped: boolean
}

function answerOf(conversation: Conversation): Answer {
  const forced = forcedCall(conversation.tools)
  if (forced !== undefined) {
    const text = written(forced.parameters === undefined ? {} : sampleValue(forced.parameters), forced.name)
    return { text, called: forced.name, isStopped: false }
  }
  const text = textOfFormat(conversation.answerFormat, lastText(conversation.turns))
  const ends = conversation.stops.map((stop) => text.indexOf(stop)).filter((end) => end !== -1)
  return ends.length === 0 ? { text, isStopped: false } : { text: text.slice(0, Math.min(...ends)), isStopped: true }
}

/** The function that the caller requires to be called. */
function forcedCall({ functions, choice }: Tools): Pick<FunctionTool, 'name' | 'parameters'> | undefined {
  if (choice?.kind === 'required') return functions[0]
  if (choice?.kind !== 'function') return undefined
  const { name } = choice
  return functions.find((declared) => declared.name === name) ?? { name, parameters: undefined }
}

function textOfFormat(format: AnswerFormat, last: string): string {
  switch (format.kind) {
    case 'text':
      return last
    case 'json':
      return JSON.stringify({ text: last })
    case 'schema':
      return written(sampleValue(format.schema), format.name ?? 'the answer')
  }
}

function written(value: unknown, name: string): string {
  if (value === undefined)
    throw new UpstreamFailure('bad_request', `the echo has found no value for the schema of ${name.slice(0, 64)}`)
  return JSON.stringify(value)
}

function writeChoice(
  { called, isStopped }: Answer,
  said: readonly string[],
  isCut: boolean,
  choice: number,
): readonly (readonly AnswerEvent[])[] {
  const finish: FinishEvent = isCut
    ? { kind: 'finish', choice, reason: 'length', raw: undefined }
    : called === undefined
      ? { kind: 'finish', choice, reason: 'stop', raw: isStopped ? 'stop_sequence' : undefined }
      : { kind: 'finish', choice, reason: 'tool_calls', raw: undefined }
  if (called === undefined) return [...said.map((text) => [{ kind: 'text', choice, text } as const]), [finish]]
  return [
    [{ kind: 'call', choice, call: 0, id: `call_${crypto.randomUUID()}`, name: called, opaque: undefined }],
    ...said.map((text) => [{ kind: 'arguments', choice, call: 0, text } as const]),
    isCut ? [finish] : [{ kind: 'callEnd', choice, call: 0 }, finish],
  ]
}

/** The text of the last message that is not of the system. */
function lastText(turns: readonly Turn[]): string {
  const last = turns.findLast(({ role }) => role !== 'system') ?? turns.at(-1)
  return last === undefined ? '' : textOf(last)
}

/** The texts of a message; media are named in brackets. */
function textOf({ parts }: Turn): string {
  return parts
    .flatMap((part) => {
      switch (part.kind) {
        case 'text':
          return [part.text]
        case 'media':
          return [`[${part.mediaType}]`]
        case 'link':
          return [part.isFile ? '[file]' : '[image]']
        default:
          return []
      }
    })
    .join(' ')
}

/** Each word with the white space that follows it. */
function words(text: string): readonly string[] {
  return text.match(/\S+\s*|^\s+/g) ?? []
}

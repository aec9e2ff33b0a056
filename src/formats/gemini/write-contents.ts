import type { JsonObject } from '../../base/json-value.ts'
import type { AssistantPart, CallPart, ContentPart, ToolTurn } from '../conversation.ts'
import { isObject, parseJson } from '../exact-json.ts'
import { joinTexts, mergeNeighbours, type Message, type SplitTurns, type SpokenTurn } from '../turns.ts'
import { untranslatable } from '../untranslatable.ts'

/** `systemInstruction` and `contents` of a request to Gemini. */
export interface GeminiContents {
  readonly systemInstruction: { readonly parts: readonly JsonObject[] } | undefined
  /** Roles alternate; never empty. */
  readonly contents: readonly { readonly role: 'user' | 'model'; readonly parts: readonly JsonObject[] }[]
}

/**
 * Google's placeholder for the signature of a call by another model
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export const foreignSignature = 'skip_thought_signature_validator'

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
])

/** Calls as a model takes them: with ids, and with a signature. */
interface CallForm {
  readonly hasIds: boolean
  readonly isSigned: boolean
}

/**
 * Writes turns for Gemini. Merges neighbours of one role, and puts results of parallel calls together and first. A
 * conversation of system messages alone becomes a user message.
 *
 * @throws {UpstreamFailure} for a conversation without content, and for a result of a call that is not in it
 */
export function writeContents({ system, spoken }: SplitTurns, form: CallForm): GeminiContents {
  const said = mergeNeighbours(spoken.map((turn) => writeTurn(turn, form))).map(({ role, pieces }) => ({
    role,
    parts: responsesFirst(pieces),
  }))
  const instructions = system.flatMap(writePart)
  // A call must stand behind a turn of the user.
  const isCall = said[0]?.role === 'model' && said[0].parts.some((part) => 'functionCall' in part)
  const contents = isCall ? [{ role: 'user' as const, parts: [{ text: '.' }] }, ...said] : said
  if (contents.length > 0) {
    return { systemInstruction: instructions.length === 0 ? undefined : { parts: instructions }, contents }
  }
  if (instructions.length === 0) throw untranslatable('A conversation without content')
  return { systemInstruction: undefined, contents: [{ role: 'user', parts: instructions }] }
}

function writeTurn(turn: SpokenTurn, form: CallForm): Message<'user' | 'model', JsonObject> {
  switch (turn.role) {
    case 'user':
      return { role: 'user', pieces: turn.parts.flatMap(writePart) }
    case 'assistant':
      return { role: 'model', pieces: assistantPieces(turn.parts, form) }
    case 'tool': {
      const others = turn.parts.filter((part) => part.kind !== 'text').flatMap(writePart)
      return { role: 'user', pieces: [functionResponse(turn, form), ...others] }
    }
  }
}

function writePart(part: ContentPart): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'media':
      return [{ inlineData: { mimeType: part.mediaType, data: part.base64 } }]
    case 'link': {
      const mimeType = mediaTypes.get(/\.([a-z0-9]+)(?:[?#]|$)/i.exec(part.url)?.[1]?.toLowerCase() ?? '')
      return [{ fileData: { fileUri: part.url, ...(mimeType === undefined ? {} : { mimeType }) } }]
    }
  }
}

/** Writes an assistant turn without its reasoning: Gemini only needs the signatures of calls. */
function assistantPieces(parts: readonly AssistantPart[], form: CallForm): readonly JsonObject[] {
  const firstCall = parts.find((part) => part.kind === 'call')
  return parts.flatMap((part) => {
    if (part.kind === 'reasoning') return []
    return part.kind === 'call' ? [functionCall(part, form, part === firstCall)] : writePart(part)
  })
}

/** Gemini signs only the first of parallel calls. If that has no signature, another model made them. */
function functionCall({ id, name, input, opaque }: CallPart, form: CallForm, isFirst: boolean): JsonObject {
  const foreign = form.isSigned && isFirst ? foreignSignature : undefined
  const signature = opaque?.maker === 'google' ? opaque.data : foreign
  return {
    functionCall: { ...(form.hasIds ? { id } : {}), name, args: input },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
}

function functionResponse(turn: ToolTurn, form: CallForm): JsonObject {
  const { callId, name } = turn
  if (name === undefined) throw untranslatable('A result of a function call that is not in the conversation')
  return { functionResponse: { ...(form.hasIds ? { id: callId } : {}), name, response: responseOf(turn) } }
}

/** Wraps a result in an object, as Gemini requires, unless it is one. */
function responseOf({ parts, isError }: ToolTurn): JsonObject {
  const text = joinTexts(parts)
  if (isError) return { error: text }
  try {
    const value = parseJson(text)
    return isObject(value) ? value : { result: value }
  } catch {
    // Most results are plain text, not JSON.
    return { result: text }
  }
}

function responsesFirst(parts: readonly JsonObject[]): readonly JsonObject[] {
  const isResponse = (part: JsonObject): boolean => 'functionResponse' in part
  return [...parts.filter(isResponse), ...parts.filter((part) => !isResponse(part))]
}

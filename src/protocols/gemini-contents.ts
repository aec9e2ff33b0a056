import { joinTexts, mergeTurns, untranslatable } from './chat-conversation.ts'
import type { ChatPart, ChatToolCall, ChatTurn, Conversation } from './chat-conversation.ts'
import { isObject, objectOf, parseJson, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'

/** `systemInstruction` and `contents` of a request to Gemini. */
export interface GeminiContents {
  readonly systemInstruction: { readonly parts: readonly JsonObject[] } | undefined
  /** Roles alternate; never empty. */
  readonly contents: readonly { readonly role: 'user' | 'model'; readonly parts: readonly JsonObject[] }[]
}

/**
 * Google's word for history that another model made, where a signature is demanded
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const foreignSignature = 'skip_thought_signature_validator'

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

/**
 * Translates a conversation into Gemini's terms: system messages apart, neighbours of one role merged, results of
 * parallel calls together and first. A conversation of system messages alone becomes a user message.
 *
 * @param signsCalls whether the model demands signatures and knows ids (Gemini 3 and later)
 * @throws {UpstreamFailure} for a conversation without content, and a result of a call that nobody made
 */
export function geminiContents({ system, turns }: Conversation, signsCalls: boolean): GeminiContents {
  const contents = mergeTurns(turns.map((turn) => translateTurn(turn, signsCalls))).map(({ role, pieces }) => ({
    role,
    parts: responsesFirst(pieces),
  }))
  const instructions = system.flatMap(translatePart)
  if (contents.length > 0)
    return { systemInstruction: instructions.length === 0 ? undefined : { parts: instructions }, contents }
  if (instructions.length === 0) throw untranslatable('A conversation without content')
  return { systemInstruction: undefined, contents: [{ role: 'user', parts: instructions }] }
}

function translateTurn(
  turn: ChatTurn,
  signsCalls: boolean,
): { readonly role: 'user' | 'model'; readonly pieces: readonly JsonObject[] } {
  switch (turn.role) {
    case 'user':
      return { role: 'user', pieces: turn.parts.flatMap(translatePart) }
    case 'assistant':
      return {
        role: 'model',
        pieces: [...turn.parts.flatMap(translatePart), ...functionCalls(turn.toolCalls, signsCalls)],
      }
    case 'tool': {
      const others = turn.parts.filter((part) => part.kind !== 'text').flatMap(translatePart)
      return { role: 'user', pieces: [functionResponse(turn, signsCalls), ...others] }
    }
  }
}

function translatePart(part: ChatPart): readonly JsonObject[] {
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

/** Of parallel calls, Gemini signs only the first; where that has no signature, another model made them. */
function functionCalls(calls: readonly ChatToolCall[], signsCalls: boolean): readonly JsonObject[] {
  return calls.map(({ id, name, input, source }, position) => {
    const signature =
      textOf(objectOf(objectOf(source['extra_content'])['google'])['thought_signature']) ??
      (signsCalls && position === 0 ? foreignSignature : undefined)
    return {
      functionCall: { ...(signsCalls ? { id } : {}), name, args: input },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    }
  })
}

function functionResponse(
  { callId, name, parts }: Extract<ChatTurn, { role: 'tool' }>,
  signsCalls: boolean,
): JsonObject {
  if (name === undefined) throw untranslatable('A result of a function call that is not in the conversation')
  return { functionResponse: { ...(signsCalls ? { id: callId } : {}), name, response: responseOf(joinTexts(parts)) } }
}

/** Gemini wants an object; whatever else the function answered is wrapped in one. */
function responseOf(text: string): JsonObject {
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

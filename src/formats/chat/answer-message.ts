import type { JsonObject } from '../../base/json-value.ts'
import type {
  AnswerEvent,
  ArgumentsEvent,
  CallEndEvent,
  FinishEvent,
  OwnEvent,
  SealedEvent,
  StartEvent,
  UsageEvent,
} from '../answer.ts'
import { madeUpId } from '../made-up-id.ts'
import { writeThinkingBlock } from '../thinking-block.ts'
import { writeCallSignature } from './call-signature.ts'
import type { ChunkHead } from './chunk.ts'
import { otherReasoningNames } from './reasoning-details.ts'

/** An event that adds to the message of a choice. */
export type ContentEvent = Exclude<AnswerEvent, StartEvent | FinishEvent | UsageEvent | CallEndEvent>

/** The content of one choice, from its events: a whole message, or a piece of one. */
export interface Content {
  readonly choice: number
  text?: string
  refusal?: string
  reasoning?: string
  calls?: Map<number, GatheredCall>
  /** Anthropic's signed reasoning, to be sent back unchanged (docs/protocols.md). */
  thinkingBlocks?: JsonObject[]
  images?: JsonObject[]
  logprobs?: JsonObject
  ownOfMessage?: JsonObject
  ownOfChoice?: JsonObject
}

interface GatheredCall {
  /** Absent in a piece that continues a call. */
  readonly head?: { readonly id: string; readonly name: string; readonly signature: JsonObject }
  readonly isCustom: boolean
  text: string
}

/** Adds an event to the content of its choice. */
export function addEvent(content: Content, event: ContentEvent): void {
  switch (event.kind) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      content[event.kind] = (content[event.kind] ?? '') + event.text
      break
    case 'call': {
      const head = { id: event.id ?? madeUpId('call_'), name: event.name, signature: writeCallSignature(event.opaque) }
      callsOf(content).set(event.call, { head, isCustom: event.isCustom === true, text: '' })
      break
    }
    case 'arguments':
      addArguments(callsOf(content), event)
      break
    case 'sealed':
      addSealed(content, event)
      break
    case 'image': {
      const url = `data:${event.mediaType};base64,${event.base64}`
      ;(content.images ??= []).push({ type: 'image_url', image_url: { url } })
      break
    }
    case 'logprobs':
      content.logprobs = { content: event.tokens ?? null, refusal: event.refusalTokens ?? null }
      break
    case 'own':
      addOwn(content, event)
  }
}

function addArguments(calls: Map<number, GatheredCall>, { call, text, isCustom }: ArgumentsEvent): void {
  const known = calls.get(call)
  if (known === undefined) calls.set(call, { isCustom: isCustom === true, text })
  else known.text += text
}

function addSealed(content: Content, event: SealedEvent): void {
  const block = writeThinkingBlock(event)
  if (block !== undefined) (content.thinkingBlocks ??= []).push(block)
}

function addOwn(content: Content, { at, fields }: OwnEvent): void {
  if (at === 'message') content.ownOfMessage = { ...content.ownOfMessage, ...fields }
  else if (at === 'choice') content.ownOfChoice = { ...content.ownOfChoice, ...fields }
}

function callsOf(content: Content): Map<number, GatheredCall> {
  return (content.calls ??= new Map<number, GatheredCall>())
}

/** Whether the content has text, or anything else that readers of the answer see. */
export function carriesAnything(content: Content): boolean {
  return carriesText(content) || carriesMore(content)
}

/** Whether the content has text. */
export function carriesText({ text }: Content): boolean {
  return text !== undefined && text !== ''
}

/** Members of a message that count as content, beside those that all formats have. */
const ownContentNames = ['tool_calls', 'function_call', 'audio', 'reasoning_details', ...otherReasoningNames]

/** Whether the content has more than text. */
export function carriesMore({ refusal, reasoning, calls, thinkingBlocks, images, ownOfMessage }: Content): boolean {
  return (
    (refusal !== undefined && refusal !== '') ||
    (reasoning !== undefined && reasoning !== '') ||
    calls !== undefined ||
    thinkingBlocks !== undefined ||
    images !== undefined ||
    (ownOfMessage !== undefined && ownContentNames.some((name) => isFilled(ownOfMessage[name])))
  )
}

function isFilled(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== '' && value !== false
}

/** The members of a whole message. `content` is null only beside tool calls or images. */
function writeMessage(content: Content): JsonObject {
  const { text = '', refusal = '', calls, images, ownOfMessage } = content
  const isBare = text === '' && (calls !== undefined || images !== undefined)
  const members: Record<string, unknown> = {
    role: 'assistant',
    content: isBare ? null : text,
    refusal: refusal === '' ? null : refusal,
  }
  addMore(members, content, true)
  return ownOfMessage === undefined ? members : { ...members, ...ownOfMessage }
}

/** The members of a delta. */
function writeDelta(content: Content): JsonObject {
  const { text, refusal, ownOfMessage } = content
  const members: Record<string, unknown> = {}
  if (text !== undefined) members['content'] = text
  if (refusal !== undefined) members['refusal'] = refusal
  addMore(members, content, false)
  return ownOfMessage === undefined ? members : { ...members, ...ownOfMessage }
}

function addMore(members: Record<string, unknown>, content: Content, isWhole: boolean): void {
  const { reasoning, calls, thinkingBlocks, images } = content
  if (reasoning !== undefined) members['reasoning_content'] = reasoning
  if (calls !== undefined) members['tool_calls'] = [...calls].map(([index, call]) => writeCall(index, call, isWhole))
  if (thinkingBlocks !== undefined) members['thinking_blocks'] = thinkingBlocks
  if (images !== undefined) members['images'] = images
}

function writeCall(index: number, { head, isCustom, text }: GatheredCall, isWhole: boolean): JsonObject {
  const input = isCustom ? { input: text } : { arguments: text }
  const type = isCustom ? 'custom' : 'function'
  if (head === undefined) return { index, [type]: input }
  const call = { id: head.id, type, [type]: { name: head.name, ...input }, ...head.signature }
  return isWhole ? call : { index, ...call }
}

/** A choice of a chunk. */
export function writeChunkChoice(content: Content, finish: FinishEvent | undefined): JsonObject {
  const { choice, logprobs = null, ownOfChoice } = content
  const finish_reason = finish === undefined ? null : writeFinishReason(finish)
  const written = { index: choice, delta: writeDelta(content), logprobs, finish_reason }
  return ownOfChoice === undefined ? written : { ...written, ...ownOfChoice }
}

/** A choice of a whole answer. */
export function writeMessageChoice(content: Content, finish: FinishEvent | undefined): JsonObject {
  const { choice, logprobs = null, ownOfChoice } = content
  const finish_reason = finish === undefined ? null : writeFinishReason(finish)
  return { index: choice, message: writeMessage(content), logprobs, finish_reason, ...ownOfChoice }
}

/** The `finish_reason` of the chat-completions format. */
export function writeFinishReason({ reason, raw }: FinishEvent): string {
  return reason === 'other' ? (raw ?? 'stop') : reason
}

/** The `usage` member; as the upstream sent it if it speaks this format. */
export function writeChatUsage({ counts, own }: UsageEvent): JsonObject {
  if (own?.format === 'chat') return own.fields
  const { prompt, completion, total, cached, cacheWrite, reasoning } = counts
  const hasPromptDetails = cached !== undefined || cacheWrite !== undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total ?? prompt + completion,
    ...(hasPromptDetails ? { prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite } } : {}),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

/** The head of an answer. Fields that the upstream left out are filled in. */
export function headOf(start: StartEvent | undefined, modelAsked: string): ChunkHead {
  return {
    id: start?.id ?? madeUpId('chatcmpl-'),
    created: start?.created ?? Math.floor(Date.now() / 1000),
    model: start?.model ?? modelAsked,
  }
}

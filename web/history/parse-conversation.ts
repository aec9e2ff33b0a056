import { isRecord } from '../../src/base/json-value.ts'
import type { TrailEntry } from '../../src/observe/request-entry.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { sizeOf } from './conversation-size.ts'
import type {
  AnswerError,
  AssistantMessage,
  ChatSettings,
  Conversation,
  ConversationHead,
  Draft,
  FileAttachment,
  ImageAttachment,
  LiveAnswer,
  Message,
  Parameters,
  Provenance,
  TokenLogprob,
  ToolCall,
  UserMessage,
} from './conversation.ts'
import { newestAfter } from './newest-after.ts'
import { Damaged, fieldsOf, flag, listOf, number, oneOf, text, textWithin, time, type Read } from './read-fields.ts'
import type { Tree } from './tree.ts'

/** Outcome of parsing untrusted data. */
export type Parsed<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'damaged'; readonly why: string }

/** Maximum size of a conversation in characters, images included. */
export const conversationSizeMax = 64 * 1024 * 1024

/** Maximum length of a title in characters. */
export const titleLengthMax = 1_000

/** Maximum length of a folder's name in characters. */
export const folderLengthMax = 100

/**
 * Parses a conversation from a database or a file. Unknown fields are ignored. It is damaged by values of wrong types,
 * unsupported images (only `data:image/…` of PNG, JPEG, WebP, GIF and AVIF), repeated ids, a message before its parent,
 * or a size above {@link conversationSizeMax}. Never throws.
 */
export function parseConversation(value: unknown): Parsed<Conversation> {
  return parsed(conversation, value)
}

/** Parses the head of a conversation. Never throws. */
export function parseHead(value: unknown): Parsed<ConversationHead> {
  return parsed(head, value)
}

/**
 * Returns a head if it is valid beyond doubt, and `undefined` if {@link parseHead} must decide. Ten times as fast, for
 * lists of thousands.
 */
export function plainHead(value: unknown): ConversationHead | undefined {
  if (!isRecord(value)) return undefined
  const { id, title, isPinned, folder, created, updated, messageCount } = value
  return isTextWithin(id, 64) &&
    isId(id) &&
    isTextWithin(title, titleLengthMax) &&
    typeof isPinned === 'boolean' &&
    isFolder(folder) &&
    isPlainNumber(created) &&
    isPlainNumber(updated) &&
    isPlainNumber(messageCount)
    ? { id, title, isPinned, ...(folder === undefined ? {} : { folder }), created, updated, messageCount }
    : undefined
}

function isTextWithin(value: unknown, lengthMax: number): value is string {
  return typeof value === 'string' && value.length <= lengthMax
}

function isFolder(value: unknown): value is string | undefined {
  return value === undefined || (value !== '' && isTextWithin(value, folderLengthMax))
}

/** A time or a count, and not 0, whose sign {@link parseHead} removes. */
function isPlainNumber(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= 8.64e15
}

/** Parses the name of a folder. Never throws. @param value absent: none */
export function parseFolder(value: unknown): Parsed<string | undefined> {
  return parsed((found, where) => (found === undefined ? undefined : folderName(found, where)), value)
}

/** Parses a draft. Never throws. */
export function parseDraft(value: unknown): Parsed<Draft> {
  return parsed(draft, value)
}

/**
 * Allowed in an address (app/route.ts): 1–64 letters, digits, `_` and `-`. Not `new`, which stands for a new
 * conversation.
 */
function isId(id: string): boolean {
  return /^[\w-]{1,64}$/.test(id) && id !== 'new'
}

function parsed<Value>(read: Read<Value>, value: unknown): Parsed<Value> {
  try {
    return { kind: 'ok', value: read(value, '') }
  } catch (error) {
    if (error instanceof Damaged) return { kind: 'damaged', why: error.message }
    throw error
  }
}

const id: Read<string> = (value, where) => {
  const found = text(value, where)
  if (!isId(found)) throw new Damaged(where, say.damage.notId)
  return found
}

const folderName: Read<string> = (value, where) => {
  const found = textWithin(folderLengthMax)(value, where)
  if (found === '') throw new Damaged(where, say.damage.expectedFound(say.damage.text, say.damage.nothing))
  return found
}

const conversation: Read<Conversation> = (value, where) => {
  const fields = fieldsOf(value, where)
  const found: Conversation = {
    id: fields.get('id', id),
    title: fields.get('title', textWithin(titleLengthMax)),
    isTitled: fields.get('isTitled', flag),
    isPinned: fields.get('isPinned', flag),
    ...fields.optional('folder', folderName),
    created: fields.get('created', time),
    updated: fields.get('updated', time),
    settings: fields.get('settings', settings),
    ...treeOf(fields.get('messages', messages), fields.optional('leaf', id).leaf, where),
  }
  const size = sizeOf(found)
  if (size > conversationSizeMax)
    throw new Damaged(where, say.damage.tooLarge(formatCount(size), formatCount(conversationSizeMax)))
  return found
}

const head: Read<ConversationHead> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    id: fields.get('id', id),
    title: fields.get('title', textWithin(titleLengthMax)),
    isPinned: fields.get('isPinned', flag),
    ...fields.optional('folder', folderName),
    ...fields.optional('folder', folderName),
    created: fields.get('created', time),
    updated: fields.get('updated', time),
    messageCount: fields.get('messageCount', number),
  }
}

const settings: Read<ChatSettings> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    ...fields.optional('model', textWithin(1_000)),
    system: fields.get('system', text),
    parameters: fields.get('parameters', parameters),
  }
}

const parameters: Read<Parameters> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    ...fields.optional('temperature', number),
    ...fields.optional('top_p', number),
    ...fields.optional('frequency_penalty', number),
    ...fields.optional('presence_penalty', number),
    ...fields.optional('max_tokens', number),
    ...fields.optional('max_completion_tokens', number),
    ...fields.optional('stop', listOf(text)),
    ...fields.optional('seed', number),
    ...fields.optional('logprobs', flag),
    ...fields.optional('top_logprobs', number),
    ...fields.optional('reasoning_effort', text),
    ...fields.optional('enable_thinking', flag),
    ...fields.optional('stream', flag),
  }
}

const messages: Read<readonly Message[]> = (value, where) => {
  const found = listOf(message)(value, where)
  refuseRepeatedIds(found, where)
  refuseForgedPictures(found, where)
  return found
}

/** Checks parents, if there is a leaf. Without one, messages follow each other. */
function treeOf(found: readonly Message[], leaf: string | undefined, where: string): Tree {
  if (leaf === undefined) return { messages: found.map(({ parent: _, ...each }) => each) }
  const before = new Set<string>()
  for (const { id: messageId, parent } of found) {
    if (parent !== undefined && !before.has(parent)) throw new Damaged(where, say.damage.noParent(messageId))
    before.add(messageId)
  }
  if (!before.has(leaf)) throw new Damaged(where, say.damage.noLeaf)
  // The leaf of another program's file may have messages after it, which would be out of reach.
  return { messages: found, leaf: newestAfter(found, leaf) }
}

function refuseRepeatedIds(found: readonly Message[], where: string): void {
  const ids = new Set(found.map((each) => each.id))
  if (ids.size !== found.length) throw new Damaged(where, say.damage.sameId)
}

/** Image ids must be unique, since images are stored by id. */
function refuseForgedPictures(found: readonly Message[], where: string): void {
  const urls = new Map<string, string>()
  for (const each of found) {
    if (each.role === 'user')
      for (const { id: pictureId, dataUrl } of each.images) {
        if ((urls.get(pictureId) ?? dataUrl) !== dataUrl) throw new Damaged(where, say.damage.samePictureId)
        urls.set(pictureId, dataUrl)
      }
  }
}

const message: Read<Message> = (value, where) => {
  const role = fieldsOf(value, where).get('role', oneOf('user', 'assistant'))
  return role === 'user' ? userMessage(value, where) : assistantMessage(value, where)
}

const file: Read<FileAttachment> = (value, where) => {
  const fields = fieldsOf(value, where)
  return { id: fields.get('id', id), name: fields.get('name', text), text: fields.get('text', text) }
}

const userMessage: Read<UserMessage> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    role: 'user',
    id: fields.get('id', id),
    ...fields.optional('parent', id),
    time: fields.get('time', time),
    text: fields.get('text', text),
    images: fields.get('images', listOf(image)),
    ...fields.optional('files', listOf(file)),
  }
}

const assistantMessage: Read<AssistantMessage> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    role: 'assistant',
    id: fields.get('id', id),
    ...fields.optional('parent', id),
    time: fields.get('time', time),
    text: fields.get('text', text),
    reasoning: fields.get('reasoning', text),
    ...fields.optional('reasoningMs', number),
    status: fields.get('status', oneOf('streaming', 'complete', 'stopped', 'interrupted', 'failed')),
    ...fields.optional('live', live),
    ...fields.optional('error', answerError),
    ...fields.optional('finishReason', text),
    ...fields.optional('tools', listOf(toolCall)),
    ...fields.optional('logprobs', listOf(tokenLogprob)),
    ...fields.optional('provenance', provenance),
  }
}

const toolCall: Read<ToolCall> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    id: fields.get('id', text),
    name: fields.get('name', text),
    arguments: fields.get('arguments', text),
    ...fields.optional('result', text),
  }
}

const live: Read<LiveAnswer> = (value, where) => {
  const fields = fieldsOf(value, where)
  return { id: fields.get('id', id), text: fields.get('text', number), reasoning: fields.get('reasoning', number) }
}

const pictureStart = /^data:image\/(?:png|jpeg|webp|gif|avif);base64,/

/** Offset of the base64 data; 0 if it is not a supported image. */
function startOfPicture(url: string): number {
  return pictureStart.exec(url.slice(0, 40))?.[0].length ?? 0
}

const pictureUrl: Read<string> = (value, where) => {
  const found = text(value, where),
    start = startOfPicture(found)
  if (start === 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(found.slice(start))) {
    throw new Damaged(where, say.damage.notPicture)
  }
  return found
}

const image: Read<ImageAttachment> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    id: fields.get('id', id),
    name: fields.get('name', textWithin(1_000)),
    dataUrl: fields.get('dataUrl', pictureUrl),
    width: fields.get('width', number),
    height: fields.get('height', number),
  }
}

const answerError: Read<AnswerError> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    kind: fields.get('kind', oneOf('wire', 'network')),
    ...fields.optional('status', number),
    ...fields.optional('type', text),
    ...fields.optional('code', text),
    ...fields.optional('param', text),
    message: fields.get('message', text),
    ...fields.optional('retryAfter', number),
  }
}

const topLogprob: Read<{ readonly token: string; readonly logprob: number }> = (value, where) => {
  const fields = fieldsOf(value, where)
  return { token: fields.get('token', text), logprob: fields.get('logprob', number) }
}

const tokenLogprob: Read<TokenLogprob> = (value, where) => ({
  ...topLogprob(value, where),
  top: fieldsOf(value, where).get('top', listOf(topLogprob)),
})

const trailEntry: Read<TrailEntry> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    provider: fields.get('provider', text),
    ...fields.optional('status', number),
    ...fields.optional('failure', text),
    ms: fields.get('ms', number),
  }
}

const provenance: Read<Provenance> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    requestId: fields.get('requestId', text),
    ...fields.optional('provider', text),
    ...fields.optional('model', text),
    trail: fields.get('trail', listOf(trailEntry)),
    ...fields.optional('firstTokenMs', number),
    ...fields.optional('totalMs', number),
    ...fields.optional('promptTokens', number),
    ...fields.optional('completionTokens', number),
    ...fields.optional('cost', number),
    ...fields.optional('isEstimated', flag),
  }
}

const draft: Read<Draft> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    text: fields.get('text', text),
    images: fields.get('images', listOf(image)),
    ...fields.optional('files', listOf(file)),
  }
}

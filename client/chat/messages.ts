import { isRecord } from '../../src/base/json-value.ts'

/** A part of a user's message. */
export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

/** A message of a conversation, as chat completions have it. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly MessagePart[]
}

/** A file beside a question: text that is appended to it, or the URL of a picture. */
export type Attachment =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'picture'; readonly url: string }

/** Makes a user's message. Texts of files follow the question; pictures are parts of their own. */
export function userMessage(question: string, attachments: readonly Attachment[]): ChatMessage {
  const texts = attachments.flatMap((each) => (each.kind === 'text' ? [fenced(each)] : []))
  const text = [question, ...texts].filter((each) => each !== '').join('\n\n')
  const pictures = attachments.flatMap((each) => (each.kind === 'picture' ? [picture(each.url)] : []))
  return { role: 'user', content: pictures.length === 0 ? text : [{ type: 'text', text }, ...pictures] }
}

function picture(url: string): MessagePart {
  return { type: 'image_url', image_url: { url } }
}

/** The fence is longer than every run of backticks in the text. */
function fenced({ name, text }: { readonly name: string; readonly text: string }): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${name}:\n${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

/** The text of a message; pictures are left out. */
export function textOfMessage({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}

/** Reads messages from data; `undefined` when a part of it is of another shape. */
export function readMessages(value: unknown): readonly ChatMessage[] | undefined {
  if (!Array.isArray(value)) return undefined
  const messages = value.flatMap((each: unknown) => readMessage(each) ?? [])
  return messages.length === value.length ? messages : undefined
}

function readMessage(value: unknown): ChatMessage | undefined {
  if (!isRecord(value)) return undefined
  const { role, content } = value
  if (role !== 'system' && role !== 'user' && role !== 'assistant') return undefined
  if (typeof content === 'string') return { role, content }
  if (!Array.isArray(content)) return undefined
  const parts = content.flatMap((each: unknown) => readPart(each) ?? [])
  return parts.length === content.length ? { role, content: parts } : undefined
}

function readPart(value: unknown): MessagePart | undefined {
  if (!isRecord(value)) return undefined
  if (value['type'] === 'text' && typeof value['text'] === 'string') return { type: 'text', text: value['text'] }
  const image = value['image_url']
  return value['type'] === 'image_url' && isRecord(image) && typeof image['url'] === 'string'
    ? picture(image['url'])
    : undefined
}

import { withFiles } from '../files/file-blocks.ts'
import type { ChatSettings, Message, Parameters, UserMessage } from '../history/conversation.ts'
import { parseParameters } from '../parameters/parameters.ts'

/** A content part (docs/api.md). */
type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

/** A message of the request. */
export interface SentMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly ContentPart[]
}

/** The body of `POST /v1/chat/completions` (docs/api.md). */
export interface ChatBody extends Omit<Parameters, 'stream'> {
  readonly model: string
  readonly messages: readonly SentMessage[]
  readonly stream: boolean
  readonly stream_options?: { readonly include_usage: true }
}

/** Path of chat completions. */
export const chatPath = '/v1/chat/completions'

/**
 * Builds the request body from system prompt, messages and parameters. Parameters out of range, as in an imported file,
 * are left out. Answers without text are left out, since providers refuse them. A last answer is one to continue: white
 * space at its end is removed, since providers refuse it.
 */
export function chatBody(settings: ChatSettings & { readonly model: string }, messages: readonly Message[]): ChatBody {
  const { stream = true, ...parameters } = parseParameters(settings.parameters)
  const last = messages.at(-1)
  return {
    model: settings.model,
    messages: [
      ...(settings.system.trim() === '' ? [] : [{ role: 'system', content: settings.system } as const]),
      ...messages.flatMap((message) => sentMessage(message, message === last)),
    ],
    ...parameters,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  }
}

function sentMessage(message: Message, isLast: boolean): readonly SentMessage[] {
  if (message.role === 'user') return [{ role: 'user', content: contentOf(message) }]
  if (message.text.trim() === '') return []
  return [{ role: 'assistant', content: isLast ? message.text.trimEnd() : message.text }]
}

function contentOf({ text: said, images, files }: UserMessage): string | readonly ContentPart[] {
  const text = withFiles(said, files)
  if (images.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...images.map(({ dataUrl }) => ({ type: 'image_url', image_url: { url: dataUrl } }) as const),
  ]
}

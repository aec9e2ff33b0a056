import type { FormatName } from './ask.ts'
import { chat } from './chat/format.ts'
import { embeddings } from './embeddings/format.ts'
import type { Format } from './format.ts'
import { geminiOfCallers } from './gemini/format.ts'
import { batchEmbedContents, countGeminiTokens, embedContent } from './gemini/native-only.ts'
import { countTokens } from './messages/count-tokens.ts'
import { messagesOfCallers } from './messages/format.ts'
import { relays } from './relay/relay.ts'
import { responses } from './responses/format.ts'
import { compact, inputTokens } from './responses/native-only.ts'

/** Every format that callers speak. */
export const formats: Readonly<Record<FormatName, Format>> = {
  chat,
  messages: messagesOfCallers,
  count_tokens: countTokens,
  embeddings,
  responses,
  input_tokens: inputTokens,
  compact,
  gemini: geminiOfCallers,
  gemini_count_tokens: countGeminiTokens,
  gemini_embed: embedContent,
  gemini_batch_embed: batchEmbedContents,
  ...relays,
}

/** Headers, in lower case, in which clients send API keys, beside `authorization`. */
export const keyHeaders: readonly string[] = [
  ...new Set(Object.values(formats).flatMap(({ keyHeader }) => keyHeader ?? [])),
]

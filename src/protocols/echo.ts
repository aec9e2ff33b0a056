import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { ChatRequest } from '../wire/chat-request.ts'
import { completionToChunks } from '../wire/conversion.ts'
import { isRecord } from '../wire/json-value.ts'
import type { ChatReply, ChatService } from './protocol.ts'

/**
 * A provider without an upstream: it answers with the caller's last message, streamed word by word, with usage counted
 * in words, so that the API, the page and every client can be tried before there is a key.
 *
 * @param now Unix milliseconds
 */
export function echo(now: () => number = Date.now): ChatService {
  return async function answerWithTheQuestion(request: ChatRequest): Promise<ChatReply> {
    const texts = messageTexts(JSON.parse(new TextDecoder().decode(request.body)))
    const answer = texts.at(-1) ?? ''
    const promptTokens = texts.reduce((sum, text) => sum + words(text).length, 0)
    const completionTokens = words(answer).length
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    }
    const head = { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(now() / 1000), model: request.model }
    const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
    const completion = (content: string) =>
      encode({
        ...head,
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
        ],
        usage,
      })
    if (!request.stream) {
      return {
        kind: 'whole',
        body: completion(answer),
        usage: { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
        isEmpty: false,
      }
    }
    const chunks = completionToChunks(completion(answer), { includeUsage: request.includeUsage }).flatMap(
      splitIntoWords,
    )
    const counted = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
    return chunksOneByOne(
      chunks.map((chunk) => (chunk.finishReason === undefined ? chunk : { ...chunk, usage: counted })),
    )
  }
}

function chunksOneByOne(chunks: readonly ChatChunk[]): ChatReply {
  const remaining = chunks.values()
  let isCancelled = false
  return {
    kind: 'stream',
    isEmpty: false,
    async read() {
      const { value } = isCancelled ? { value: undefined } : remaining.next()
      return value === undefined ? undefined : [value]
    },
    cancel() {
      isCancelled = true
    },
  }
}

/** One chunk a word, with the white space that follows it. */
function splitIntoWords(chunk: ChatChunk): readonly ChatChunk[] {
  const pieces = words(chunk.text)
  if (pieces.length < 2) return [chunk]
  const parsed = JSON.parse(new TextDecoder().decode(chunk.data))
  const [choice] = parsed.choices
  return pieces.map((text) => ({
    ...chunk,
    text,
    data: new TextEncoder().encode(
      JSON.stringify({ ...parsed, choices: [{ ...choice, delta: { ...choice.delta, content: text } }] }),
    ),
  }))
}

function words(text: string): readonly string[] {
  return text.match(/\S+\s*|^\s+/g) ?? []
}

function messageTexts(request: unknown): readonly string[] {
  const messages = isRecord(request) && Array.isArray(request.messages) ? request.messages : []
  return messages.map((message: unknown) => (isRecord(message) ? textOf(message.content) : ''))
}

/** The text of a message's content; other parts are named in brackets. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => {
      if (!isRecord(part)) return ''
      return typeof part.text === 'string' ? part.text : `[${String(part.type)}]`
    })
    .join(' ')
}

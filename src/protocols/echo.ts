import { isRecord } from '../base/json-value.ts'
import type { Ask } from '../formats/ask.ts'
import { chat } from '../formats/chat/format.ts'
import { objectOf, objectsOf } from '../formats/exact-json.ts'
import type { Part } from '../formats/part.ts'
import type { Reply } from '../formats/reply.ts'
import { watchable } from '../formats/stream-end.ts'
import type { Service } from '../service/service.ts'

/**
 * A provider without an upstream, for trying svc without an API key. It answers with the caller's last message,
 * streamed word by word, and counts usage in words.
 *
 * @param now Unix milliseconds
 */
export function echo(now: () => number = Date.now): Service<Ask, Reply> {
  return async function answerWithTheQuestion(request): Promise<Reply> {
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
    const parts = chat.stream.split(completion(answer), request).flatMap(splitIntoWords)
    const counted = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
    return streamOf(parts.map((part) => (part.finishReason === undefined ? part : { ...part, usage: counted })))
  }
}

function streamOf(parts: readonly Part[]): Reply {
  const remaining = parts.values()
  let isCancelled = false
  return watchable({
    kind: 'stream',
    isEmpty: false,
    async read() {
      const { value } = isCancelled ? { value: undefined } : remaining.next()
      return value === undefined ? undefined : [value]
    },
    cancel() {
      isCancelled = true
    },
  })
}

/** One part per word, with the white space that follows it. */
function splitIntoWords(part: Part): readonly Part[] {
  const pieces = words(part.text)
  if (pieces.length < 2) return [part]
  const chunk = objectOf(JSON.parse(new TextDecoder().decode(part.data)))
  const [choice] = objectsOf(chunk['choices'])
  const delta = objectOf(choice?.['delta'])
  return pieces.map((text) => ({
    ...part,
    text,
    data: new TextEncoder().encode(
      JSON.stringify({ ...chunk, choices: [{ ...choice, delta: { ...delta, content: text } }] }),
    ),
  }))
}

function words(text: string): readonly string[] {
  return text.match(/\S+\s*|^\s+/g) ?? []
}

function messageTexts(request: unknown): readonly string[] {
  const messages = isRecord(request) && Array.isArray(request['messages']) ? request['messages'] : []
  return messages.map((message: unknown) => (isRecord(message) ? textOf(message['content']) : ''))
}

/** The text of a message's content; other parts are named in brackets. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: unknown) => {
      if (!isRecord(part)) return ''
      return typeof part['text'] === 'string' ? part['text'] : `[${String(part['type'])}]`
    })
    .join(' ')
}

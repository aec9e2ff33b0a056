import { UpstreamFailure } from '../service/failure.ts'
import { thinkingBlock } from './anthropic-thinking.ts'
import { newId, toolCall, wholeReply } from './chat-reply.ts'
import type { FinishReason, MessageFields, TokenCounts } from './chat-reply.ts'
import { isObject, numberOf, objectOf, objectsOf, textOf } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import type { WholeReply } from './protocol.ts'

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/**
 * Translates a complete Message (https://platform.claude.com/docs/en/api/messages).
 *
 * @param asked the model's name where the message has none
 * @throws {UpstreamFailure} `malformed` when it has no content
 */
export function anthropicReply(message: JsonObject, asked: string): WholeReply {
  if (!Array.isArray(message['content']))
    throw new UpstreamFailure('malformed', 'an answer without content', { status: 200 })
  const counts = addUsage(undefined, message['usage'])
  const choice = {
    index: 0,
    message: messageFields(objectsOf(message['content'])),
    finishReason: finishReasonOf(message['stop_reason']),
  }
  return wholeReply(
    { id: textOf(message['id']) ?? newId('chatcmpl'), model: textOf(message['model']) ?? asked },
    [choice],
    counts && tokenCounts(counts),
  )
}

/** `end_turn`, `stop_sequence`, `pause_turn` and what is not known yet are a plain `stop`. */
export function finishReasonOf(stopReason: unknown): FinishReason {
  return finishReasons.get(stopReason) ?? 'stop'
}

/** The newest `usage` fields over the older ones: those of a stream are cumulative, and the last wins. */
export function addUsage(known: JsonObject | undefined, usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return known
  return { ...known, ...Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null)) }
}

/** Anthropic counts cached tokens apart from `input_tokens`; the chat-completions format counts them in. */
export function tokenCounts(usage: JsonObject): TokenCounts {
  const cached = numberOf(usage['cache_read_input_tokens'])
  const cacheWrite = numberOf(usage['cache_creation_input_tokens'])
  return {
    prompt: (numberOf(usage['input_tokens']) ?? 0) + (cached ?? 0) + (cacheWrite ?? 0),
    completion: numberOf(usage['output_tokens']) ?? 0,
    cached,
    cacheWrite,
    reasoning: numberOf(objectOf(usage['output_tokens_details'])['thinking_tokens']),
  }
}

/** The message that complete blocks make. Blocks of tools that ran at Anthropic are left out. */
export function messageFields(blocks: readonly JsonObject[]): MessageFields {
  const texts: string[] = []
  const thoughts: string[] = []
  const calls: JsonObject[] = []
  const signed: JsonObject[] = []
  for (const block of blocks) {
    switch (block['type']) {
      case 'text':
        texts.push(textOf(block['text']) ?? '')
        break
      case 'thinking':
      case 'redacted_thinking': {
        thoughts.push(textOf(block['thinking']) ?? '')
        const whole = thinkingBlock(block)
        if (whole !== undefined) signed.push(whole)
        break
      }
      case 'tool_use':
        calls.push(
          toolCall(
            textOf(block['id']) ?? newId('call'),
            textOf(block['name']) ?? '',
            JSON.stringify(objectOf(block['input'])),
          ),
        )
        break
    }
  }
  const thought = thoughts.join('')
  return {
    content: texts.join(''),
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(signed.length === 0 ? {} : { thinking_blocks: signed }),
  }
}

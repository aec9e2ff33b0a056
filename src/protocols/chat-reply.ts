import type { ChatChunk } from '../wire/chat-chunk.ts'
import type { Usage } from '../wire/usage.ts'
import { encodeJson } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import type { WholeReply } from './protocol.ts'

/** `finish_reason` values of the chat-completions format. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** Tokens of one answer. What the upstream left out is absent. */
export interface TokenCounts {
  readonly prompt: number
  readonly completion: number
  /** Sum of both when absent. */
  readonly total?: number | undefined
  /** Of the prompt: read from a cache, written to one. */
  readonly cached?: number | undefined
  readonly cacheWrite?: number | undefined
  /** Of the completion: spent on thinking. */
  readonly reasoning?: number | undefined
}

/** What stays the same over all chunks of an answer. */
export interface ReplyHead {
  readonly id: string
  readonly model: string
}

/** One `message` or `delta`, in the wire's spelling. Absent and empty fields are left out of a delta. */
export interface MessageFields {
  readonly role?: 'assistant'
  readonly content?: string
  readonly reasoning_content?: string
  readonly tool_calls?: readonly JsonObject[]
  /** Anthropic's signed thinking, complete blocks, to be sent back as they are (docs/protocols.md). */
  readonly thinking_blocks?: readonly JsonObject[]
  /** Images in the answer: `{type:"image_url",image_url:{url:"data:…"}}`. */
  readonly images?: readonly JsonObject[]
}

/** One answer of a complete reply. */
export interface Choice {
  readonly index: number
  readonly message: MessageFields
  readonly finishReason: FinishReason
  /** `logprobs`, as the format has it. */
  readonly logprobs?: JsonObject | undefined
}

/** Builds a complete reply (docs/api.md). `content` is null only beside tool calls or images. */
export function wholeReply(head: ReplyHead, choices: readonly Choice[], counts: TokenCounts | undefined): WholeReply {
  const body = {
    id: head.id,
    object: 'chat.completion',
    created: unixSeconds(),
    model: head.model,
    choices: choices.map(({ index, message, finishReason, logprobs }) => {
      const { content = '', ...fields } = message
      const isBare = content === '' && (message.tool_calls !== undefined || message.images !== undefined)
      return {
        index,
        message: { role: 'assistant', content: isBare ? null : content, refusal: null, ...fields },
        logprobs: logprobs ?? null,
        finish_reason: finishReason,
      }
    }),
    ...(counts === undefined ? {} : { usage: usageFields(counts) }),
  }
  return {
    kind: 'whole',
    body: encodeJson(body),
    usage: counts && usageOf(counts),
    isEmpty: choices.every(({ message, finishReason }) => finishReason === 'stop' && !carriesAnything(message)),
  }
}

/** Makes the chunks of one stream. */
export interface ChunkWriter {
  /** A piece of choice 0. */
  delta(fields: MessageFields): ChatChunk
  /**
   * The end of choice 0, and after it the usage: as a chunk of its own when the caller asked for it, else only for the
   * gateway's books.
   */
  finish(reason: FinishReason, counts: TokenCounts | undefined): readonly ChatChunk[]
}

/** Begins a stream of chunks with this head. */
export function chunkWriter(head: ReplyHead, includeUsage: boolean): ChunkWriter {
  const envelope = { id: head.id, object: 'chat.completion.chunk', created: unixSeconds(), model: head.model }

  function write(delta: MessageFields, finishReason: FinishReason | undefined, usage: Usage | undefined): ChatChunk {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason ?? null }
    return {
      kind: 'chunk',
      data: encodeJson({ ...envelope, choices: [choice] }),
      isMeaningful: finishReason !== undefined || carriesAnything(delta),
      text: delta.content ?? '',
      isBeyondText: carriesAnything({ ...delta, content: '' }),
      finishReason,
      hasOpenChoice: finishReason === undefined,
      usage,
    }
  }

  return {
    delta: (fields) => write(fields, undefined, undefined),
    finish(reason, counts) {
      const usage = counts && usageOf(counts)
      if (!includeUsage || counts === undefined) return [write({}, reason, usage)]
      const data = encodeJson({ ...envelope, choices: [], usage: usageFields(counts) })
      return [
        write({}, reason, undefined),
        {
          kind: 'chunk',
          data,
          isMeaningful: false,
          text: '',
          isBeyondText: false,
          finishReason: undefined,
          hasOpenChoice: false,
          usage,
        },
      ]
    },
  }
}

/** A function call as the format has it. */
export function toolCall(id: string, name: string, argumentsText: string, extra: JsonObject = {}): JsonObject {
  return { id, type: 'function', function: { name, arguments: argumentsText }, ...extra }
}

/** A new id for an answer or a call, such as `chatcmpl-1f0c…`. */
export function newId(prefix: 'chatcmpl' | 'call'): string {
  return `${prefix === 'call' ? 'call_' : 'chatcmpl-'}${crypto.randomUUID().replaceAll('-', '')}`
}

function carriesAnything({ content, reasoning_content, tool_calls, thinking_blocks, images }: MessageFields): boolean {
  return (
    (content ?? '') !== '' ||
    (reasoning_content ?? '') !== '' ||
    tool_calls !== undefined ||
    thinking_blocks !== undefined ||
    images !== undefined
  )
}

function usageOf({ prompt, completion, total, cached }: TokenCounts): Usage {
  return {
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens: total ?? prompt + completion,
    cachedTokens: cached,
  }
}

function usageFields({ prompt, completion, total, cached, cacheWrite, reasoning }: TokenCounts): JsonObject {
  const hasPromptDetails = cached !== undefined || cacheWrite !== undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total ?? prompt + completion,
    ...(hasPromptDetails ? { prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite } } : {}),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

import { UpstreamFailure } from '../service/failure.ts'
import { chunkReader, type ChatChunk } from '../wire/chat-chunk.ts'
import { readCompletion } from '../wire/chat-completion.ts'
import { encodeChatRequest, type ChatRequest } from '../wire/chat-request.ts'
import { readErrorBody, type ErrorBody } from '../wire/error-body.ts'
import { MalformedAnswer } from '../wire/malformed-answer.ts'
import { classifyFailure, statusOfError } from './classify.ts'
import { isDone } from './done.ts'
import type { Connection, Protocol } from './protocol.ts'

const noHeaders: ReadonlyMap<string, string> = new Map()

/** The widely used chat-completions format itself: bytes pass through, looked at but not rebuilt. */
export const openai: Protocol = {
  path: (connection) => `${new URL(connection.baseUrl).pathname.replace(/\/+$/, '')}/chat/completions`,

  headers: ({ apiKey, headers }) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    ...headers,
  }),

  encode(request, model, connection) {
    const { overrides, rename, drop } = connection
    const added = asksUsage(request, connection) ? { stream_options: { include_usage: true }, ...overrides } : overrides
    return encodeChatRequest(request, { model, overrides: added, rename, drop })
  },

  decode(body, { model }) {
    try {
      const completion = readCompletion(body, { model })
      if (completion.kind === 'error') throw answeredError(completion.error)
      return { kind: 'whole', body: completion.body, usage: completion.usage, isEmpty: completion.isEmpty }
    } catch (error) {
      throw error instanceof MalformedAnswer ? malformed(error) : error
    }
  },

  stream(request, connection) {
    const read = chunkReader({ model: request.model })
    const isUsageOurs = asksUsage(request, connection)
    return {
      decode({ event, data }) {
        if (isDone(data)) return 'done'
        if (event === 'error') throw eventError(data)
        const chunk = read(data)
        if (chunk.kind === 'chunk') return [isUsageOurs && isUsageOnly(chunk) ? { ...chunk, data: nothing } : chunk]
        throw answeredError(chunk.error)
      },
    }
  },

  failure: (status, headers, body) => classifyFailure(status, headers, readErrorBody(body)),
}

const nothing = new Uint8Array()

/** The caller did not say whether it wants usage, and the provider counts only when asked. */
function asksUsage({ stream, members }: ChatRequest, { streamUsage }: Connection): boolean {
  return streamUsage && stream && !members.some(({ name }) => name === 'stream_options')
}

/** The chunk without choices that ends a stream for which usage was asked. */
function isUsageOnly({ usage, isMeaningful, data }: ChatChunk): boolean {
  return usage !== undefined && !isMeaningful && /"choices"\s*:\s*\[\s*\]/.test(new TextDecoder().decode(data))
}

/** An error inside an answer whose status was 200: treated as the status its code means (failover.md rows 22 and 33). */
export function answeredError(error: ErrorBody): UpstreamFailure {
  return classifyFailure(statusOfError(error), noHeaders, error).answeredWith(200)
}

function eventError(data: Uint8Array): UpstreamFailure {
  const error = readErrorBody(data)
  return error === undefined
    ? new UpstreamFailure('server_error', 'an error event', { status: 200 })
    : answeredError(error)
}

function malformed(error: MalformedAnswer): UpstreamFailure {
  return new UpstreamFailure(error.reason === 'empty' ? 'empty' : 'malformed', error.message, {
    status: 200,
    cause: error,
  })
}

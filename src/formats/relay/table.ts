import { doneEvent, keepAliveEvent } from '../../bytes/event-stream.ts'
import type { RelayName } from '../ask.ts'
import { any, flag, integerFrom, list, object, textOr } from '../request-shape.ts'
import type { RelayEndpoint } from './endpoint.ts'
import { completionReader } from './events.ts'

/** The endpoints that are relayed, by their formats. A path that is in no table is not served. */
export const relayEndpoints: Readonly<Record<RelayName, RelayEndpoint>> = {
  completions: {
    path: '/v1/completions',
    // Token ids, and lists of them, are prompts too.
    fields: { prompt: textOr(list(any, 1)), stream: flag, n: integerFrom(1), max_tokens: integerFrom(0) },
    required: ['prompt'],
    answer: { member: 'choices', entries: { text: 'string' } },
    stream: {
      member: 'stream',
      value: 'true',
      reader: completionReader,
      end: doneEvent,
      keepAlive: keepAliveEvent,
      isWholeAnEvent: true,
    },
    needsSameModel: false,
  },
  moderations: {
    path: '/v1/moderations',
    defaultModel: 'omni-moderation-latest',
    fields: { input: textOr(list(any, 1)) },
    required: ['input'],
    // An answer without a verdict must never read as a good one.
    answer: { member: 'results', entries: { flagged: 'boolean' } },
    needsSameModel: true,
  },
  rerank: {
    path: '/v1/rerank',
    fields: { query: textOr(object({})), documents: list(any, 1), top_n: integerFrom(1) },
    required: ['query', 'documents'],
    answer: { member: 'results', entries: { relevance_score: 'number' } },
    // Scores of different models cannot be compared.
    needsSameModel: true,
  },
}

import { answerWith } from './members.ts'
import { eventStream, type WordList } from './words.ts'

const usage = { 'usage?': 'object' } as const
const completion = {
  returns: answerWith({
    id: 'string',
    object: 'string',
    created: 'number',
    model: 'string',
    choices: 'array',
    ...usage,
  }),
  also: {
    [eventStream]:
      'With `"stream": true`: chunks as `data: {…}`, then `data: [DONE]`. A failed stream has an error instead.',
  },
}
const response = {
  returns: answerWith({
    id: 'string',
    object: 'string',
    status: 'string',
    output: 'array',
    'usage?': 'object or null',
  }),
  also: {
    [eventStream]: 'With `"stream": true`: events such as `response.output_text.delta`, the last `response.completed`.',
  },
}
const counted = { returns: answerWith({ input_tokens: 'number' }) }
const gemini = {
  does: 'An answer in Gemini’s format',
  returns: answerWith({ candidates: 'array', 'usageMetadata?': 'object' }),
}
const geminiStream = {
  does: 'A streamed answer in Gemini’s format',
  query: { alt: { const: 'sse' } },
  needs: ['alt'],
  returns: { media: { [eventStream]: 'Each `data: {…}` is a response with a part of the answer.' } },
}
const geminiCount = { does: 'The number of tokens of such a request', returns: answerWith({ totalTokens: 'number' }) }
const geminiEmbedding = { does: 'One embedding in Gemini’s format', returns: answerWith({ embedding: 'object' }) }
const geminiEmbeddings = { does: 'Several embeddings in Gemini’s format', returns: answerWith({ embeddings: 'array' }) }
const pictures = {
  returns: answerWith({ data: 'array', ...usage }),
  also: { [eventStream]: 'With `"stream": true`: the events of the provider.' },
}
const transcript = {
  returns: answerWith({ text: 'string' }),
  also: { 'text/plain': 'With `response_format` `text`, `srt` or `vtt`.' },
}
const oneModel = {
  does: 'One model',
  returns: answerWith({ id: 'string', object: 'string', created: 'number', owned_by: 'string', providers: 'array' }),
}
const geminiModel = {
  does: 'One model in Gemini’s format',
  returns: answerWith({ name: 'string', displayName: 'string', supportedGenerationMethods: 'array' }),
}
const plain = (text: string) => ({ media: { 'text/plain': text } })

/** Words of the routes of the API, of status and of the description itself (docs/api.md). */
export const apiWords: WordList = {
  'POST /v1/chat/completions': { does: 'A chat completion, whole or as a stream', ...completion },
  'POST /v1/responses': { does: 'An answer in OpenAI’s Responses format, without stored state', ...response },
  'POST /v1/responses/input_tokens': { does: 'The number of tokens of such a request', ...counted },
  'POST /v1/responses/compact': { does: 'A shorter conversation', returns: answerWith({ output: 'array' }) },
  'POST /v1/messages': {
    does: 'An answer in Anthropic’s Messages format',
    returns: answerWith({
      id: 'string',
      type: 'string',
      role: 'string',
      content: 'array',
      model: 'string',
      usage: 'object',
    }),
    also: {
      [eventStream]:
        'With `"stream": true`: events from `message_start` to `message_stop`. `error` ends a failed stream.',
    },
  },
  'POST /v1/messages/count_tokens': { does: 'The number of tokens of such a request', ...counted },
  'POST /v1/embeddings': {
    does: 'Embeddings of texts',
    returns: answerWith({ object: 'string', data: 'array', model: 'string', ...usage }),
  },
  'POST /v1/completions': { ...completion, does: 'The continuation of a text, whole or as a stream' },
  'POST /v1/moderations': { does: 'Whether texts or images are harmful', returns: answerWith({ results: 'array' }) },
  'POST /v1/rerank': { does: 'Documents in the order of their relevance', returns: answerWith({ results: 'array' }) },
  'POST /v1/images/generations': { does: 'Pictures', ...pictures },
  'POST /v1/images/edits': { does: 'Changed pictures', ...pictures },
  'POST /v1/images/variations': { does: 'Pictures like another', returns: pictures.returns },
  'POST /v1/audio/speech': {
    does: 'Speech',
    returns: { media: { 'audio/*': 'Sound in the wanted `response_format`.' } },
    also: {
      [eventStream]:
        'With `"stream_format": "sse"`: events of the type `speech.audio.delta`, then `speech.audio.done`.',
    },
  },
  'POST /v1/audio/transcriptions': {
    ...transcript,
    does: 'The text of speech',
    also: { ...transcript.also, [eventStream]: 'With `stream=true`: events of the types `transcript.text.…`.' },
  },
  'POST /v1/audio/translations': { does: 'The text of speech, in English', ...transcript },
  'POST /v1beta/models/{model}:generateContent': gemini,
  'POST /v1/models/{model}:generateContent': gemini,
  'POST /v1beta/models/{model}:streamGenerateContent': geminiStream,
  'POST /v1/models/{model}:streamGenerateContent': geminiStream,
  'POST /v1beta/models/{model}:countTokens': geminiCount,
  'POST /v1/models/{model}:countTokens': geminiCount,
  'POST /v1beta/models/{model}:embedContent': geminiEmbedding,
  'POST /v1/models/{model}:embedContent': geminiEmbedding,
  'POST /v1beta/models/{model}:batchEmbedContents': geminiEmbeddings,
  'POST /v1/models/{model}:batchEmbedContents': geminiEmbeddings,
  'GET /v1/models': {
    does: 'Every model, once',
    query: {
      limit: { type: 'integer', minimum: 1, maximum: 999_999_999, description: 'Most models. Default: all.' },
      after_id: 'The model before the first one.',
      before_id: 'The model behind the last one.',
    },
    returns: answerWith({
      ...{ object: 'string', data: 'array', has_more: 'boolean' },
      ...{ first_id: 'string or null', last_id: 'string or null' },
    }),
  },
  'GET /v1/models/{id}': oneModel,
  'GET /v1beta/models': {
    does: 'Every model, once, in Gemini’s format',
    query: { pageSize: 'Most models: 1 to 1,000.', pageToken: '`nextPageToken` of the page before.' },
    returns: answerWith({ models: 'array', 'nextPageToken?': 'string' }),
  },
  'GET /v1beta/models/{model}': geminiModel,
  'GET /v1/key': {
    does: 'The caller itself: its grants, and the state of its limits',
    returns: answerWith({
      ...{ object: 'string', kind: 'string', id: 'number or null', name: 'string or null' },
      ...{ limits: 'array', content: 'object or null' },
    }),
  },
  'GET /health': { does: 'Whether the process runs', returns: plain('`ok`') },
  'GET /ready': { does: 'Whether requests should be sent here', returns: plain('`ready`; else an error 503') },
  'GET /metrics': { does: 'Metrics for Prometheus', returns: plain('Version 0.0.4 of its text format') },
  'GET /openapi.json': { does: 'This description', returns: answerWith({ openapi: 'string', paths: 'object' }) },
  'GET /openapi': { does: 'This description as a page', returns: { media: { 'text/html': 'Without scripts.' } } },
  'GET /auth': {
    does: 'The signed-in user',
    note: 'Without a session: 401.',
    returns: answerWith({ userId: 'string', userName: 'string', authProvider: 'string' }),
  },
  'GET /auth/session': {
    does: 'The session with its token',
    note: 'Without a session: 401.',
    returns: answerWith({ userId: 'string', userName: 'string', sessionToken: 'string', created: 'number' }),
  },
  'POST /auth/logout': {
    does: 'Ends the session, or all of the user',
    body: { type: 'object', properties: { everywhere: { type: 'boolean' } } },
    mayLackBody: true,
    returns: answerWith({ success: 'boolean', 'ended?': 'number' }),
  },
  'GET /auth/provider': {
    does: 'Sends the browser to the identity provider',
    query: { another: 'Present: to its choice of accounts.' },
    status: 302,
    returns: { media: {} },
  },
  'GET /auth/provider/callback': {
    does: 'The way back from the identity provider',
    query: { code: 'Of the identity provider.', state: 'Binds the callback to its browser.' },
    status: 302,
    returns: { media: {} },
  },
  'GET /.well-known/oauth-authorization-server': {
    does: 'The endpoints for agents that sign in',
    note: 'RFC 8414.',
    returns: answerWith({ issuer: 'string', token_endpoint: 'string', device_authorization_endpoint: 'string' }),
  },
  'GET /.well-known/opencode': {
    does: 'Settings of opencode',
    returns: answerWith({ auth: 'object', config: 'object' }),
  },
  'POST /oauth/device_authorization': {
    does: 'Begins the sign-in of an agent',
    note: 'RFC 8628. The body is a form.',
    returns: answerWith({
      ...{ device_code: 'string', user_code: 'string', verification_uri: 'string' },
      ...{ verification_uri_complete: 'string', expires_in: 'number', interval: 'number' },
    }),
  },
  'POST /oauth/token': {
    does: 'Tokens for an agent',
    note: 'The body is a form. Where the service cannot decide, it closes the connection without an answer.',
    returns: answerWith({
      ...{ access_token: 'string', token_type: 'string', expires_in: 'number' },
      ...{ refresh_token: 'string', 'email?': 'string' },
    }),
  },
  'POST /oauth/revoke': {
    does: 'Signs an agent out',
    note: 'RFC 7009. The body is a form.',
    returns: { type: 'object' },
  },
  'GET /device': { does: 'The page to let agents in', returns: { media: { 'text/html': 'Without scripts.' } } },
  'POST /device': { does: 'A form of that page', returns: { media: { 'text/html': 'Without scripts.' } } },
  'GET /managed/settings': { does: 'Says that there are none', status: 404, returns: { type: 'object' } },
  'POST /v1/metrics': { does: 'Drops telemetry of agents', returns: { media: {} } },
  'POST /v1/logs': { does: 'Drops telemetry of agents', returns: { media: {} } },
  'POST /v1/traces': { does: 'Drops telemetry of agents', returns: { media: {} } },
}

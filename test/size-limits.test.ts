import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseJson, pick } from './client.ts'
import { faultUpstream, type Script } from './fakes/fault-upstream.ts'
import { completion, event, framed, lastChunk, reply, streamHead } from './fakes/replies.ts'
import { provider, startService, type ServiceUnderTest } from './harness.ts'

const mib = 1024 * 1024
const upstream = faultUpstream()
let service: ServiceUnderTest

beforeAll(async () => {
  service = await startService({
    providers: [
      provider('a', upstream.url, ['m'], { formats: ['responses'] }),
      provider('b', upstream.url, ['claude'], { protocol: 'anthropic' }),
    ],
    limits: { body_bytes: 4 * mib },
  })
})

afterAll(async () => {
  upstream.stop()
  await service.stop()
})

/** Answers with JSON that white space makes this long. */
function padded(value: object, bytes: number): Script {
  const text = JSON.stringify(value)
  const body = Buffer.alloc(bytes, ' ')
  body.write(text)
  return (exchange) => exchange.write(reply(200, body))
}

async function post(path: string, body: object) {
  const response = await fetch(`${service.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, text: await response.text(), trail: response.headers.get('x-svc-trail') ?? '' }
}

const embedding = { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [1] }] }

describe('a whole answer', () => {
  test.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }, completion('x'), 32],
    ['/v1/embeddings', { input: 'x' }, embedding, 64],
  ] as const)('to %s may have the size of its format', async (path, request, answer, limit) => {
    upstream.use(padded(answer, limit * mib))
    expect((await post(path, { model: 'm', ...request })).status).toBe(200)
    upstream.use(padded(answer, limit * mib + 1))
    const refused = await post(path, { model: 'm', ...request })
    expect([refused.status, refused.trail]).toEqual([502, expect.stringContaining('class=too_large')])
  })
})

describe('an event', () => {
  const response = (text: string) => ({
    type: 'response.completed',
    response: {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text }] }],
    },
  })
  const created = { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress' } }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null }
  const block = (kind: string, rest: object) => ({ type: `content_block_${kind}`, index: 0, ...rest })
  const messageEvents = (text: string) => [
    { type: 'message_start', message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } },
    block('start', { content_block: { type: 'text', text: '' } }),
    block('delta', { delta: { type: 'text_delta', text } }),
    block('stop', {}),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  const streams =
    (...events: readonly object[]): Script =>
    async (exchange) => {
      await exchange.write(
        Buffer.concat([Buffer.from(streamHead), framed(events.map((each) => event(each)).join('')), lastChunk]),
      )
    }

  test('of Responses may have 8 MiB, since the last one has the whole output', async () => {
    const ask = () => post('/v1/responses', { model: 'm', input: 'x', stream: true })
    upstream.use(streams(created, response('x'.repeat(7 * mib))))
    const answer = await ask()
    expect([answer.status, answer.text.length > 7 * mib]).toEqual([200, true])
    upstream.use(streams(created, response('x'.repeat(8 * mib))))
    expect((await ask()).trail + (await ask()).trail).toContain('class=too_large')
  })

  test.each([
    ['/v1/messages', { max_tokens: 9 }],
    ['/v1/chat/completions', {}],
  ])('of Messages may have 8 MiB, for callers of %s', async (path, rest) => {
    const ask = () => post(path, { model: 'claude', messages: [{ role: 'user', content: 'x' }], stream: true, ...rest })
    upstream.use(streams(...messageEvents('x'.repeat(7 * mib))))
    const answer = await ask()
    expect([answer.status, answer.text.length > 7 * mib]).toEqual([200, true])
    upstream.use(streams(...messageEvents('x'.repeat(8 * mib))))
    expect((await ask()).trail).toContain('class=too_large')
  })
})

describe('a request', () => {
  test('above limits.body_bytes is refused', async () => {
    const refused = await post('/v1/embeddings', { model: 'm', input: 'x'.repeat(4 * mib) })
    expect(refused.status).toBe(413)
    expect(pick(parseJson(refused.text), 'error', 'message')).toContain('(limits.body_bytes)')
  })
})

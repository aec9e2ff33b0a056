import { describe, expect, test } from 'bun:test'
import { parseChatRequest } from '../formats/chat/request.ts'
import { anyTarget, LearnedProfile } from '../profiles/resolve-profile.ts'
import { anthropic } from '../protocols/anthropic.ts'
import { endpointAt } from '../protocols/fixtures/load.ts'
import { openai } from '../protocols/openai.ts'
import { fakeTransport, transportError, type FakeAnswer } from '../protocols/testing.ts'
import { unlimitedAnswerBudget } from '../service/answer-budget.ts'
import { callOf } from '../service/testing.ts'
import { upstreamExchange } from './exchange.ts'
import { listModels } from './list-models.ts'
import { upstreamAt } from './upstream.ts'

const json = (body: unknown, status = 200): FakeAnswer => ({ status, body: [JSON.stringify(body)] })
const completion = json({ choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] })
const models = json({ data: [{ id: 'm' }] })
const notFound: FakeAnswer = { status: 404, body: ['404 page not found'] }
const page: FakeAnswer = { headers: { 'content-type': 'text/html' }, body: ['<!doctype html><p>Hello'] }
const question = parseChatRequest(Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hi"}]}'))

/** Asks one question after the other. Returns their outcomes, and the paths that were asked. */
async function asked(baseUrl: string, count: number, ...answers: readonly (FakeAnswer | Error)[]) {
  const transport = fakeTransport(...answers)
  const upstream = upstreamAt({ transport, protocol: openai, endpoint: endpointAt(baseUrl), connectMs: 1_000 })
  const profile = new LearnedProfile(anyTarget)
  const service = upstreamExchange({
    upstream,
    model: 'm',
    profile,
    idleMs: 1_000,
    answerBudget: unlimitedAnswerBudget,
  })
  const outcomes: string[] = []
  for (let index = 0; index < count; index++)
    outcomes.push(
      await service(question, callOf()).then(
        ({ kind }) => kind,
        (error: unknown) => String(error),
      ),
    )
  return { outcomes, paths: transport.requests.map(({ method, path }) => `${method} ${path}`) }
}

describe('a base URL without a version', () => {
  test.each([
    ['without such a path', notFound],
    ['that refuses the method', { status: 405, body: [''] }],
    ['with a page', page],
  ] as const)('%s is completed by /v1 where models are listed, and stays so', async (_name, first) => {
    expect(await asked('http://h:11434/api', 2, first, models, completion, completion)).toEqual({
      outcomes: ['whole', 'whole'],
      paths: [
        'POST /api/chat/completions',
        'GET /api/v1/models',
        'POST /api/v1/chat/completions',
        'POST /api/v1/chat/completions',
      ],
    })
  })

  test('is completed where the key is refused there, which shows that there is an API', async () => {
    const { paths } = await asked('http://h', 1, notFound, json({ error: { message: 'no key' } }, 401), completion)
    expect(paths.at(-1)).toBe('POST /v1/chat/completions')
  })

  test('stays where the API knows of models, and where a firewall refuses the other place', async () => {
    const gone = json({ error: { message: "The model 'm' does not exist", code: 'model_not_found' } }, 404)
    expect((await asked('http://h', 1, gone)).paths).toEqual(['POST /chat/completions'])
    const { paths } = await asked('http://h', 2, notFound, json({ error: { message: 'Forbidden' } }, 403), completion)
    expect(paths).toEqual(['POST /chat/completions', 'GET /v1/models', 'POST /chat/completions'])
  })

  test('stays where nothing is below /v1, and is not asked for again', async () => {
    const { paths } = await asked('http://h', 2, notFound, notFound, notFound)
    expect(paths).toEqual(['POST /chat/completions', 'GET /v1/models', 'POST /chat/completions'])
  })

  test('stays once the API has answered there', async () => {
    const { paths } = await asked('http://h', 2, completion, notFound)
    expect(paths).toEqual(['POST /chat/completions', 'POST /chat/completions'])
  })

  test('is tried again later if there was no answer', async () => {
    const lost = transportError('connect')
    const { paths } = await asked('http://h', 2, notFound, lost, notFound, models, completion)
    expect(paths.at(-1)).toBe('POST /v1/chat/completions')
  })

  test('is completed for a list of models', async () => {
    const transport = fakeTransport(notFound, models, models)
    const upstream = upstreamAt({ transport, protocol: openai, endpoint: endpointAt('http://h'), connectMs: 1_000 })
    expect(await listModels(upstream, new AbortController().signal)).toEqual([{ name: 'm' }])
    expect(transport.requests.map(({ path }) => path)).toEqual(['/models', '/v1/models', '/v1/models'])
  })

  test('is none where it has a version, or the protocol adds one', async () => {
    expect((await asked('http://h/v1', 1, notFound)).paths).toEqual(['POST /v1/chat/completions'])
    const transport = fakeTransport(notFound)
    const upstream = upstreamAt({ transport, protocol: anthropic, endpoint: endpointAt('http://h'), connectMs: 1_000 })
    await expect(listModels(upstream, new AbortController().signal)).rejects.toThrow('404')
    expect(transport.requests).toHaveLength(1)
  })
})

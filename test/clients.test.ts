import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText, tool, jsonSchema } from 'ai'
import OpenAI from 'openai'
import { aimockText, startAimock, type Aimock } from './fakes/aimock.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { authority } from './fakes/faults/connection.ts'
import { cuts } from './fakes/faults/cut.ts'
import { kindsOf, startFault } from './fakes/faults/fault.ts'
import { status } from './fakes/faults/status.ts'
import { streamOf } from './fakes/faults/stream.ts'
import { good, goodText } from './fakes/good.ts'
import { faults } from './fakes/modes.ts'
import { chunk, completion, done, event, reply } from './fakes/replies.ts'
import { provider, quick, startService, type ServiceUnderTest } from './harness.ts'
import { startRig } from './rig.ts'

/**
 * A client library: sends one question and returns the whole text of the answer. Rejects when the library reports an
 * error.
 */
interface Client {
  readonly name: string
  ask(url: string, model: string, stream: boolean): Promise<string>
}

const hello = [{ role: 'user' as const, content: 'hello' }]

function openaiClient(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any' })
}

const openai: Client = {
  name: 'openai',
  async ask(url, model, stream) {
    const { chat } = openaiClient(url)
    if (!stream) return (await chat.completions.create({ model, messages: hello })).choices[0]?.message.content ?? ''
    let text = ''
    for await (const part of await chat.completions.create({ model, messages: hello, stream: true }))
      text += part.choices[0]?.delta.content ?? ''
    return text
  },
}

const openaiHelper: Client = {
  name: 'openai, .stream()',
  async ask(url, model) {
    const completion = await openaiClient(url).chat.completions.stream({ model, messages: hello }).finalChatCompletion()
    expect(completion.choices[0]?.finish_reason).toBe('stop')
    return completion.choices[0]?.message.content ?? ''
  },
}

const ai: Client = {
  name: 'ai',
  async ask(url, model, stream) {
    const language = createOpenAICompatible({ name: 'svc', baseURL: `${url}/v1` })(model)
    if (!stream) return (await generateText({ model: language, messages: hello, maxRetries: 0 })).text
    let text = ''
    for await (const part of streamText({ model: language, messages: hello, maxRetries: 0, onError() {} }).fullStream) {
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta') text += part.text
    }
    return text
  },
}

const langchain: Client = {
  name: '@langchain/openai',
  async ask(url, model, stream) {
    const chat = new ChatOpenAI({ model, apiKey: 'any', maxRetries: 0, configuration: { baseURL: `${url}/v1` } })
    if (!stream) return (await chat.invoke('hello')).text
    let text = ''
    for await (const part of await chat.stream('hello')) text += part.text
    return text
  },
}

const clients: readonly Client[] = [openai, openaiHelper, ai, langchain]

function modelOf(client: Client, name: string): string {
  return `${name}-${clients.indexOf(client)}`.toLowerCase()
}

describe('every client, with a fault of the first provider', () => {
  // moves-on.ts shows for all faults that the answer is the second provider's, and nothing else.
  const shown = faults.filter(({ row }) => row === 4 || row === 33)
  const origins = shown.map((fault) => ({ fault, origin: startFault(fault) }))
  const second = faultUpstream(good())
  let service: ServiceUnderTest

  beforeAll(async () => {
    const providers = origins.flatMap(({ fault, origin }) =>
      clients.flatMap((client) => {
        const model = modelOf(client, fault.name)
        return [provider(`a-${model}`, origin.url, [model], quick), provider(`b-${model}`, second.url, [model])]
      }),
    )
    service = await startService({ providers }, { trusts: authority })
  })

  afterAll(async () => {
    second.stop()
    for (const { origin } of origins) origin.stop()
    await service.stop()
  })

  for (const client of clients) {
    test.concurrent.each(
      shown
        .filter((fault) => client !== openaiHelper || fault.on !== 'plain')
        .map((fault) => [`row ${fault.row} › ${fault.words}`, fault] as const),
    )(`${client.name} › %s › never sees it`, async (_, fault) => {
      for (const stream of kindsOf(fault)) {
        if (client === openaiHelper && !stream) continue
        expect(await client.ask(service.url, modelOf(client, fault.name), stream)).toBe(goodText())
      }
    })
  }
})

describe('every client, when a stream is cut', () => {
  const origins = cuts.map((cut) => ({ cut, upstream: faultUpstream(cut.script) }))
  const same = faultUpstream(good({ name: 'same', tokens: 6 })),
    other = faultUpstream(good({ name: 'other' }))
  let service: ServiceUnderTest

  beforeAll(async () => {
    const providers = origins.flatMap(({ cut, upstream }) =>
      clients.flatMap((client) => {
        const resumed = modelOf(client, `resumed-${cut.name}`),
          lost = modelOf(client, `lost-${cut.name}`)
        return [
          provider(`a-${resumed}`, upstream.url, [resumed], quick),
          provider(`b-${resumed}`, same.url, [resumed]),
          provider(`a-${lost}`, upstream.url, [lost], quick),
          provider(`b-${lost}`, other.url, [lost]),
        ]
      }),
    )
    service = await startService({ providers })
  })

  afterAll(async () => {
    for (const upstream of [same, other, ...origins.map(({ upstream }) => upstream)]) upstream.stop()
    await service.stop()
  })

  for (const client of clients) {
    test.each(cuts.map((cut) => [`row ${cut.row} › ${cut.words}`, cut] as const))(
      `${client.name} › %s › reads the whole text, or gets an error`,
      async (_, cut) => {
        expect(await client.ask(service.url, modelOf(client, `resumed-${cut.name}`), true)).toBe(
          goodText({ name: 'same', tokens: 6 }),
        )
        const outcome = await client.ask(service.url, modelOf(client, `lost-${cut.name}`), true).then(
          (text) => `ended cleanly with ${text}`,
          (error: unknown) => error,
        )
        expect(outcome).not.toBeString()
      },
    )
  }
})

describe('openai', () => {
  test.each([
    [400, OpenAI.BadRequestError, 400, 1],
    [401, OpenAI.InternalServerError, 502, 1],
    [402, OpenAI.InternalServerError, 502, 1],
  ] as const)('%d from every provider › the right error, and no silent retry', async (code, error, expected, hits) => {
    await using rig = await startRig([status(code)])
    const failure = await openai.ask(rig.service.url, 'm', false).catch((caught: unknown) => caught)
    expect(failure).toBeInstanceOf(error)
    expect(failure).toMatchObject({ status: expected })
    expect(rig.hits()).toEqual([hits])
  })

  test('a model without a provider › NotFoundError', async () => {
    await using rig = await startRig([good()])
    const failure = await openai.ask(rig.service.url, 'none', true).catch((caught: unknown) => caught)
    expect(failure).toBeInstanceOf(OpenAI.NotFoundError)
    expect(failure).toMatchObject({ code: 'model_not_found', type: 'invalid_request_error' })
  })

  test('a temporary failure of every provider › the client retries after Retry-After', async () => {
    let asked = 0
    await using rig = await startRig([(exchange) => (asked++ === 0 ? status(500) : good())(exchange)])
    expect(await openai.ask(rig.service.url, 'm', false)).toBe(goodText())
    expect(rig.hits()).toEqual([2])
  })

  test('lists models and gets one', async () => {
    await using rig = await startRig([good()])
    const { models } = openaiClient(rig.service.url)
    expect((await models.list()).data.map(({ id, object }) => [id, object])).toEqual([['m', 'model']])
    expect(await models.retrieve('m')).toMatchObject({ id: 'm', owned_by: 'a' })
  })
})

describe('every client against a mock that others wrote, behind a provider that fails', () => {
  let aimock: Aimock, service: ServiceUnderTest
  const first = faultUpstream(status(400))

  beforeAll(async () => {
    aimock = await startAimock()
    service = await startService({ providers: [provider('first', first.url), provider('aimock', aimock.url)] })
  })

  afterAll(async () => {
    first.stop()
    await service.stop()
    await aimock.stop()
  })

  for (const client of clients) {
    test(`${client.name} › plain and streamed`, async () => {
      expect(await client.ask(service.url, 'm', false)).toBe(aimockText)
      expect(await client.ask(service.url, 'm', true)).toBe(aimockText)
    })
  }

  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
  const weather = [{ role: 'user' as const, content: 'weather' }]

  test('openai › a tool call, plain and streamed', async () => {
    const { chat } = openaiClient(service.url)
    const request = {
      model: 'm',
      messages: weather,
      tools: [{ type: 'function' as const, function: { name: 'get_weather', parameters } }],
    }
    const plain = await chat.completions.create(request)
    const streamed = await chat.completions.stream(request).finalChatCompletion()
    for (const { choices } of [plain, streamed]) {
      expect(choices[0]?.finish_reason).toBe('tool_calls')
      expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({
        function: { name: 'get_weather', arguments: '{"city":"Bern"}' },
      })
    }
  })

  test('ai › a tool call, plain and streamed', async () => {
    const request = {
      model: createOpenAICompatible({ name: 'svc', baseURL: `${service.url}/v1` })('m'),
      messages: weather,
      tools: {
        get_weather: tool({
          inputSchema: jsonSchema<{ city: string }>({ ...parameters, required: ['city'] }),
          execute: ({ city }) => city,
        }),
      },
    }
    const plain = await generateText(request)
    const streamed = await streamText(request).toolCalls
    for (const calls of [plain.toolCalls, streamed])
      expect(calls.map(({ toolName, input }) => [toolName, input])).toEqual([['get_weather', { city: 'Bern' }]])
  })

  test('@langchain/openai › a tool call', async () => {
    const chat = new ChatOpenAI({ model: 'm', apiKey: 'any', configuration: { baseURL: `${service.url}/v1` } })
    const answer = await chat
      .bindTools([{ type: 'function', function: { name: 'get_weather', parameters } }])
      .invoke('weather')
    expect(answer.tool_calls?.map(({ name, args }) => [name, args])).toEqual([['get_weather', { city: 'Bern' }]])
  })
})

describe('what a provider sends with wrong types', () => {
  const top = {
    id: null,
    created: '1700000000',
    usage: { prompt_tokens: '3', completion_tokens: -5, total_tokens: null, prompt_tokens_details: null },
  }
  const calls = [
    { id: 'a', function: { name: 'f', arguments: { x: 1 } } },
    { function: { name: 'f', arguments: { y: 2 } } },
  ]
  const logprobs = { content: [{ token: 'hi', logprob: '-0.5' }] }
  const whole = reply(
    200,
    JSON.stringify(
      completion('hi', {
        message: { role: 'model', tool_calls: calls },
        choice: { finish_reason: null, logprobs },
        top,
      }),
    ),
  )
  const stream = streamOf(
    event({ ...chunk({}), choices: [{ delta: { content: 'hi' }, logprobs, finish_reason: 'null' }] }) +
      event(chunk({ role: null, tool_calls: calls })) +
      event(chunk({}, null, top)) +
      done,
  )
  const tools = { f: tool({ inputSchema: jsonSchema<object>({ type: 'object' }), execute: (input) => input }) }
  const upstream = faultUpstream((exchange) => {
    const isStream = new TextDecoder().decode(exchange.hit.body).includes('"stream":true')
    return isStream ? stream(exchange) : exchange.write(whole)
  })
  let service: ServiceUnderTest | undefined
  beforeAll(async () => {
    service = await startService({ providers: [provider('a', upstream.url, ['m'])] })
  })
  afterAll(async () => {
    upstream.stop()
    await service?.stop()
  })
  const inputs = [{ x: 1 }, { y: 2 }]

  test('openai, .stream() › reads it', async () => {
    const { choices, usage } = await openaiClient(service?.url ?? '')
      .chat.completions.stream({ model: 'm', messages: hello })
      .finalChatCompletion()
    expect(choices[0]?.message.content).toBe('hi')
    expect(
      choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && JSON.parse(call.function.arguments)),
    ).toEqual(inputs)
    expect([choices[0]?.finish_reason, usage?.total_tokens]).toEqual(['tool_calls', 3])
  })

  test.each([false, true])('ai › reads it, streamed: %p', async (isStream) => {
    const model = createOpenAICompatible({ name: 'svc', baseURL: `${service?.url}/v1` })('m')
    const options = { model, messages: hello, tools, maxRetries: 0 }
    const result = isStream ? streamText({ ...options, onError() {} }) : await generateText(options)
    expect(await result.text).toBe('hi')
    expect((await result.toolCalls).map(({ input }) => input)).toEqual(inputs)
    expect([await result.finishReason, (await result.usage).inputTokens]).toEqual(['tool-calls', 3])
  })
})

import { afterEach, describe, expect, jest, test } from 'bun:test'
import { callOf, rejection } from '../service/testing.ts'
import { gateway, type GatewayOptions } from './gateway.ts'
import type { ModelList, OfferedModel } from './provider.ts'
import {
  chunks,
  cutFailure,
  fakeProvider,
  fakeStream,
  failureOf,
  offered,
  readAll,
  requestOf,
  textOf,
  unknownModels,
  wholeReply,
  type FakeProvider,
} from './testing.ts'

afterEach(() => void jest.useRealTimers())

function gatewayTo(providers: readonly FakeProvider[], options: Partial<GatewayOptions> = {}) {
  return gateway({ providers, aliases: {}, onContentPolicy: 'stop', onCut: 'resume', ...options })
}

const request = requestOf()
const streaming = requestOf({ stream: true })
const down = () => failureOf('server_error')

describe('the gateway', () => {
  test('answers by the first provider that offers the model', async () => {
    const whole = wholeReply('hello')
    const other = fakeProvider('other', [], { models: ['another'] })
    const served = await gatewayTo([
      other,
      fakeProvider('a', [whole], { models: [offered('m', { upstream: 'm-2024' })] }),
      fakeProvider('b', []),
    ]).chat(request, callOf())
    expect(served).toEqual({ reply: whole, provider: 'a', model: 'm-2024' })
  })

  test('fails over in the order of providers (docs/api.md)', async () => {
    const providers = [
      fakeProvider('c', [down()]),
      fakeProvider('a', [down()]),
      fakeProvider('b', [wholeReply('hello')]),
    ]
    expect((await gatewayTo(providers).chat(request, callOf())).provider).toBe('b')
    expect(providers.map(({ requests }) => requests.length)).toEqual([1, 1, 1])
  })

  test('tells who failed and why when all failed', async () => {
    expect(
      await rejection(
        gatewayTo([fakeProvider('a', [down()]), fakeProvider('b', [failureOf('dns')])]).chat(request, callOf()),
      ),
    ).toMatchObject({
      status: 502,
      code: 'provider_error',
      message: "All providers failed for model 'm': a: it was server_error; b: it was dns",
    })
  })

  test('asks nobody for a model that nobody offers', async () => {
    expect(
      await rejection(gatewayTo([fakeProvider('a', [], { models: ['other'] })]).chat(request, callOf())),
    ).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  test('without providers knows no model', async () => {
    expect(await rejection(gatewayTo([]).chat(request, callOf()))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    })
  })

  test('names the model as it was asked for', async () => {
    const error = await rejection(
      gatewayTo([fakeProvider('a', [down()])], { aliases: { mine: 'm' } }).chat(requestOf({ model: 'mine' }), callOf()),
    )
    expect(error).toMatchObject({ message: "All providers failed for model 'mine': a: it was server_error" })
  })

  test("hands the caller's reason on when it has left", async () => {
    const gone = new Error('gone')
    expect(
      await rejection(gatewayTo([fakeProvider('a', [down()])]).chat(request, callOf(AbortSignal.abort(gone)))),
    ).toBe(gone)
  })

  test('hands a mistake of ours on', async () => {
    const mistake = new TypeError('ours')
    expect(
      await rejection(
        gatewayTo([fakeProvider('a', [mistake]), fakeProvider('b', [wholeReply('never')])]).chat(request, callOf()),
      ),
    ).toBe(mistake)
  })

  test('answers 503 and asks nobody else when we are out of room (failover.md row 42)', async () => {
    const second = fakeProvider('b', [wholeReply('never')])
    const error = await rejection(
      gatewayTo([fakeProvider('a', [failureOf('resources', { isFinal: true })]), second]).chat(request, callOf()),
    )
    expect(error).toMatchObject({ status: 503, code: 'overloaded' })
    expect(second.requests).toEqual([])
  })

  test('delivers an empty answer only when nobody else remains (failover.md row 27)', async () => {
    const empty = wholeReply('')
    expect(
      (await gatewayTo([fakeProvider('a', [empty]), fakeProvider('b', [wholeReply('hello')])]).chat(request, callOf()))
        .provider,
    ).toBe('b')
    expect(
      (await gatewayTo([fakeProvider('a', [empty]), fakeProvider('b', [down()])]).chat(request, callOf())).reply,
    ).toBe(empty)
  })

  test('lists its models and finds one', () => {
    const here = gatewayTo([fakeProvider('a', [], { models: ['m', 'n'] })])
    expect(here.models().map(({ name }) => name)).toEqual(['m', 'n'])
    expect(here.model('M')?.offers.map(({ provider }) => provider)).toEqual(['a'])
    expect(here.model('x')).toBeUndefined()
  })
})

describe('a content policy', () => {
  const refused = () => failureOf('content_policy', { status: 400, isFinal: true })

  test('stops: its reason goes to the client as 400 (failover.md row 13)', async () => {
    const second = fakeProvider('b', [wholeReply('never')])
    expect(await rejection(gatewayTo([fakeProvider('a', [refused()]), second]).chat(request, callOf()))).toMatchObject({
      status: 400,
      code: 'content_policy_violation',
      message: 'The provider rejected the content: it was content_policy',
    })
    expect(second.requests).toEqual([])
  })

  test('moves on when the owner wants it so', async () => {
    const served = await gatewayTo([fakeProvider('a', [refused()]), fakeProvider('b', [wholeReply('hello')])], {
      onContentPolicy: 'next',
    }).chat(request, callOf())
    expect(served.provider).toBe('b')
  })

  test('leaves other final failures final when it moves on', async () => {
    const second = fakeProvider('b', [wholeReply('never')])
    await rejection(
      gatewayTo([fakeProvider('a', [failureOf('resources', { isFinal: true })]), second], {
        onContentPolicy: 'next',
      }).chat(request, callOf()),
    )
    expect(second.requests).toEqual([])
  })
})

describe('a stream of the gateway', () => {
  const cutStream = () => fakeStream(chunks.text('Hel'), cutFailure())
  const wholeStream = () => fakeStream(chunks.text('Hello', 'b'), chunks.finish('stop', 'b'))

  async function readThrough(providers: readonly FakeProvider[], options: Partial<GatewayOptions> = {}) {
    const { reply } = await gatewayTo(providers, options).chat(streaming, callOf())
    if (reply.kind !== 'stream') throw new Error('not a stream')
    return readAll(reply)
  }

  test('is resumed by the next provider when it is cut', async () => {
    const { chunks: read, error } = await readThrough([
      fakeProvider('a', [cutStream()]),
      fakeProvider('b', [wholeStream()]),
    ])
    expect(error).toBeUndefined()
    expect(textOf(read)).toBe('Hello')
  })

  test('is resumed by those who were not asked yet, not by those who failed', async () => {
    const first = fakeProvider('a', [down(), wholeStream()])
    const { error } = await readThrough([first, fakeProvider('b', [cutStream()])])
    expect(error).toMatchObject({ code: 'provider_error' })
    expect(first.requests).toHaveLength(1)
  })

  test('ends in an error when it is cut and the owner wants it so', async () => {
    const second = fakeProvider('b', [wholeStream()])
    const { error } = await readThrough([fakeProvider('a', [cutStream()]), second], { onCut: 'error' })
    expect(error).toMatchObject({ code: 'provider_error' })
    expect(second.requests).toEqual([])
  })

  test('ends in an error when it is cut and nobody else offers the model', async () => {
    const { chunks: read, error } = await readThrough([fakeProvider('a', [cutStream()])])
    expect(textOf(read)).toBe('Hel')
    expect(error).toMatchObject({ code: 'provider_error' })
  })
})

describe('a model that nobody is known to offer', () => {
  /** A list that a test makes known. */
  function laterKnown() {
    let models: readonly OfferedModel[] | undefined
    let version = 0
    let pending: Promise<void> | undefined
    let resolve = (): void => undefined
    pending = new Promise<void>((done) => {
      resolve = done
    })
    const list: ModelList = {
      current: () => models,
      get version() {
        return version
      },
      get pending() {
        return pending
      },
    }
    return {
      list,
      learn(names?: readonly string[]) {
        models = names?.map((name) => offered(name))
        if (names !== undefined) version += 1
        pending = undefined
        resolve()
      },
    }
  }

  test('waits for the lists that are asked for the first time', async () => {
    const later = laterKnown()
    const provider = fakeProvider('a', [wholeReply('hello')], { models: later.list })
    const answering = gatewayTo([provider]).chat(request, callOf())
    await Promise.resolve()
    expect(provider.requests).toEqual([])
    later.learn(['m'])
    expect((await answering).provider).toBe('a')
  })

  test('is not found when the lists that came do not have it', async () => {
    const later = laterKnown()
    const failing = rejection(gatewayTo([fakeProvider('a', [], { models: later.list })]).chat(request, callOf()))
    later.learn(['other'])
    expect(await failing).toMatchObject({ status: 404 })
  })

  test('is asked of those whose list could not be learned', async () => {
    const later = laterKnown()
    const answering = gatewayTo([fakeProvider('a', [wholeReply('hello')], { models: later.list })]).chat(
      request,
      callOf(),
    )
    later.learn()
    expect((await answering).provider).toBe('a')
  })

  test('is asked after 5 s although a list is still being asked for', async () => {
    jest.useFakeTimers()
    const provider = fakeProvider('a', [wholeReply('hello')], { models: laterKnown().list })
    const answering = gatewayTo([provider]).chat(request, callOf())
    jest.advanceTimersByTime(4_999)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    expect(provider.requests).toEqual([])
    jest.advanceTimersByTime(1)
    expect((await answering).provider).toBe('a')
    expect(jest.getTimerCount()).toBe(0)
  })

  test('does not wait for a caller who has left', async () => {
    const controller = new AbortController()
    const provider = fakeProvider('a', [], { models: laterKnown().list })
    const failing = rejection(gatewayTo([provider]).chat(request, callOf(controller.signal)))
    const gone = new Error('gone')
    controller.abort(gone)
    expect(await failing).toBe(gone)
    expect(provider.requests).toEqual([])
  })

  test('does not hold up a model that somebody offers who comes before', async () => {
    const served = await gatewayTo([
      fakeProvider('a', [wholeReply('hello')]),
      fakeProvider('b', [], { models: laterKnown().list }),
    ]).chat(request, callOf())
    expect(served.provider).toBe('a')
  })

  test('is asked at once where no list is being asked for', async () => {
    expect(
      (await gatewayTo([fakeProvider('a', [wholeReply('hello')], { models: unknownModels })]).chat(request, callOf()))
        .provider,
    ).toBe('a')
  })
})

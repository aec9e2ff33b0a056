import { afterEach, describe, expect, jest, test } from 'bun:test'
import type { Access } from '../formats/access.ts'
import { WireError } from '../formats/error.ts'
import type { OfferedModel } from '../formats/model.ts'
import { callOf, failureOf, rejection } from '../service/testing.ts'
import type { GatewayOptions } from './gateway.ts'
import type { ModelList } from './provider.ts'
import {
  gatewayTo,
  parts,
  cutFailure,
  fakeProvider,
  fakeStream,
  offered,
  readAll,
  requestOf,
  partsText,
  unknownModels,
  wholeReply,
  type FakeProvider,
} from './testing.ts'

afterEach(() => void jest.useRealTimers())

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
    ]).answer(request, callOf())
    expect(served).toEqual({ reply: whole, provider: 'a', model: 'm-2024', dropped: [], adjusted: [] })
  })

  test('fails over in the order of providers (docs/api.md)', async () => {
    const providers = [
      fakeProvider('c', [down()]),
      fakeProvider('a', [down()]),
      fakeProvider('b', [wholeReply('hello')]),
    ]
    expect((await gatewayTo(providers).answer(request, callOf())).provider).toBe('b')
    expect(providers.map(({ requests }) => requests.length)).toEqual([1, 1, 1])
  })

  test('stays with the provider that has the prompt of a session in its cache', async () => {
    const promptCache = { bytesMin: 1, ms: 300_000 }
    const providers = [
      fakeProvider('a', [down(), wholeReply('hello')]),
      fakeProvider('b', [wholeReply('hello')], { promptCache }),
    ]
    const asked = gatewayTo(providers)
    const provider = async (session?: string) =>
      (await asked.answer(request, { ...callOf(), ...(session === undefined ? {} : { session }) })).provider
    expect([await provider('s'), await provider('s'), await provider('t'), await provider()]).toEqual([
      ...['b', 'b', 'a', 'a'],
    ])
    expect(providers.map(({ requests }) => requests.length)).toEqual([3, 2])
  })

  test('names each provider and its failure when all failed', async () => {
    expect(
      await rejection(
        gatewayTo([fakeProvider('a', [down()]), fakeProvider('b', [failureOf('dns')])]).answer(request, callOf()),
      ),
    ).toMatchObject({
      status: 502,
      code: 'provider_error',
      message: "All providers failed for model 'm': a: it was server_error; b: it was dns",
    })
  })

  test('asks no provider for a model that none offers', async () => {
    expect(
      await rejection(gatewayTo([fakeProvider('a', [], { models: ['other'] })]).answer(request, callOf())),
    ).toMatchObject({ status: 404, code: 'model_not_found' })
  })

  test('without providers has no model', async () => {
    expect(await rejection(gatewayTo([]).answer(request, callOf()))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    })
  })

  test('quotes the model in the spelling of the request', async () => {
    const error = await rejection(
      gatewayTo([fakeProvider('a', [down()])], { aliases: { mine: 'm' } }).answer(
        requestOf({ model: 'mine' }),
        callOf(),
      ),
    )
    expect(error).toMatchObject({ message: "All providers failed for model 'mine': a: it was server_error" })
  })

  test('fails with the abort reason when the caller has left', async () => {
    const gone = new Error('gone')
    expect(
      await rejection(gatewayTo([fakeProvider('a', [down()])]).answer(request, callOf(AbortSignal.abort(gone)))),
    ).toBe(gone)
  })

  test('passes internal errors on', async () => {
    const mistake = new TypeError('ours')
    expect(
      await rejection(
        gatewayTo([fakeProvider('a', [mistake]), fakeProvider('b', [wholeReply('never')])]).answer(request, callOf()),
      ),
    ).toBe(mistake)
  })

  test('answers 503 without failover when the service lacks resources (failover.md row 42)', async () => {
    const second = fakeProvider('b', [wholeReply('never')])
    const error = await rejection(
      gatewayTo([fakeProvider('a', [failureOf('resources', { isFinal: true })]), second]).answer(request, callOf()),
    )
    expect(error).toMatchObject({ status: 503, code: 'overloaded' })
    expect(second.requests).toEqual([])
  })

  test('delivers an empty answer only when no candidate remains (failover.md row 27)', async () => {
    const empty = wholeReply('')
    expect(
      (
        await gatewayTo([fakeProvider('a', [empty]), fakeProvider('b', [wholeReply('hello')])]).answer(
          request,
          callOf(),
        )
      ).provider,
    ).toBe('b')
    expect(
      (await gatewayTo([fakeProvider('a', [empty]), fakeProvider('b', [down()])]).answer(request, callOf())).reply,
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
    expect(
      await rejection(gatewayTo([fakeProvider('a', [refused()]), second]).answer(request, callOf())),
    ).toMatchObject({
      status: 400,
      code: 'content_policy_violation',
      message: 'The provider rejected the content: it was content_policy',
    })
    expect(second.requests).toEqual([])
  })

  test("moves on with onContentPolicy 'next'", async () => {
    const served = await gatewayTo([fakeProvider('a', [refused()]), fakeProvider('b', [wholeReply('hello')])], {
      onContentPolicy: 'next',
    }).answer(request, callOf())
    expect(served.provider).toBe('b')
  })

  test('leaves other final failures final when it moves on', async () => {
    const second = fakeProvider('b', [wholeReply('never')])
    await rejection(
      gatewayTo([fakeProvider('a', [failureOf('resources', { isFinal: true })]), second], {
        onContentPolicy: 'next',
      }).answer(request, callOf()),
    )
    expect(second.requests).toEqual([])
  })
})

describe('a stream of the gateway', () => {
  const cutStream = () => fakeStream(parts.text('Hel'), cutFailure())
  const wholeStream = () => fakeStream(parts.text('Hello', 'b'), parts.finish('stop', 'b'))

  async function readThrough(providers: readonly FakeProvider[], options: Partial<GatewayOptions> = {}) {
    const { reply } = await gatewayTo(providers, options).answer(streaming, callOf())
    if (reply.kind !== 'stream') throw new Error('not a stream')
    return readAll(reply)
  }

  test('is resumed by the next provider when it is cut', async () => {
    const { parts: read, error } = await readThrough([
      fakeProvider('a', [cutStream()]),
      fakeProvider('b', [wholeStream()]),
    ])
    expect(error).toBeUndefined()
    expect(partsText(read)).toBe('Hello')
  })

  test('is resumed by candidates not yet asked, not by failed ones', async () => {
    const first = fakeProvider('a', [down(), wholeStream()])
    const { error } = await readThrough([first, fakeProvider('b', [cutStream()])])
    expect(error).toMatchObject({ code: 'provider_error' })
    expect(first.requests).toHaveLength(1)
  })

  test("ends in an error when it is cut, with onCut 'error'", async () => {
    const second = fakeProvider('b', [wholeStream()])
    const { error } = await readThrough([fakeProvider('a', [cutStream()]), second], { onCut: 'error' })
    expect(error).toMatchObject({ code: 'provider_error' })
    expect(second.requests).toEqual([])
  })

  test('ends in an error when it is cut and no other provider offers the model', async () => {
    const { parts: read, error } = await readThrough([fakeProvider('a', [cutStream()])])
    expect(partsText(read)).toBe('Hel')
    expect(error).toMatchObject({ code: 'provider_error' })
  })
})

describe('a model that no list has', () => {
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

  test('waits for the first fetch of lists', async () => {
    const later = laterKnown()
    const provider = fakeProvider('a', [wholeReply('hello')], { models: later.list })
    const answering = gatewayTo([provider]).answer(request, callOf())
    await Promise.resolve()
    expect(provider.requests).toEqual([])
    later.learn(['m'])
    expect((await answering).provider).toBe('a')
  })

  test('is not found when the fetched lists do not have it', async () => {
    const later = laterKnown()
    const failing = rejection(gatewayTo([fakeProvider('a', [], { models: later.list })]).answer(request, callOf()))
    later.learn(['other'])
    expect(await failing).toMatchObject({ status: 404 })
  })

  test('goes to the providers whose list could not be fetched', async () => {
    const later = laterKnown()
    const answering = gatewayTo([fakeProvider('a', [wholeReply('hello')], { models: later.list })]).answer(
      request,
      callOf(),
    )
    later.learn()
    expect((await answering).provider).toBe('a')
  })

  test('goes to them after 5 s while a fetch is still running', async () => {
    jest.useFakeTimers()
    const provider = fakeProvider('a', [wholeReply('hello')], { models: laterKnown().list })
    const answering = gatewayTo([provider]).answer(request, callOf())
    jest.advanceTimersByTime(4_999)
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    expect(provider.requests).toEqual([])
    jest.advanceTimersByTime(1)
    expect((await answering).provider).toBe('a')
    expect(jest.getTimerCount()).toBe(0)
  })

  test('stops waiting when the caller has left', async () => {
    const controller = new AbortController()
    const provider = fakeProvider('a', [], { models: laterKnown().list })
    const failing = rejection(gatewayTo([provider]).answer(request, callOf(controller.signal)))
    const gone = new Error('gone')
    controller.abort(gone)
    expect(await failing).toBe(gone)
    expect(provider.requests).toEqual([])
  })

  test('does not delay a model that an earlier provider lists', async () => {
    const served = await gatewayTo([
      fakeProvider('a', [wholeReply('hello')]),
      fakeProvider('b', [], { models: laterKnown().list }),
    ]).answer(request, callOf())
    expect(served.provider).toBe('a')
  })

  test('goes to them at once when no fetch is running', async () => {
    expect(
      (await gatewayTo([fakeProvider('a', [wholeReply('hello')], { models: unknownModels })]).answer(request, callOf()))
        .provider,
    ).toBe('a')
  })
})

describe('a caller with a key', () => {
  const access = (models: readonly string[], providers?: readonly string[]): Access => ({
    mayDo: () => true,
    mayUseModel: (name) => models.includes(name),
    mayUseProvider: (id) => providers?.includes(id) ?? true,
  })
  const ask = (model: string, limits: Access, aliases: Readonly<Record<string, string>> = {}) => {
    const providers = ['a', 'b'].map((id) => fakeProvider(id, [wholeReply(id)], { models: ['m'] }))
    return gatewayTo(providers, { aliases })
      .answer(requestOf({ model }), { ...callOf(), access: limits })
      .then(
        ({ provider }) => provider,
        (error: unknown) => (error instanceof WireError ? error.code : error),
      )
  }

  test.each([
    ['its model', 'm', access(['m']), 'a'],
    ['its model at a provider', 'b/m', access(['m']), 'b'],
    ['its model at its provider', 'm', access(['m'], ['b']), 'b'],
    ['another model', 'm', access(['x']), 'model_not_allowed'],
    ['another model at a provider', 'b/m', access(['b']), 'model_not_allowed'],
    ['its model at another provider', 'a/m', access(['m'], ['b']), 'model_not_allowed'],
    ['its model where it has no provider', 'm', access(['m'], ['c']), 'model_not_allowed'],
    ['its model, which no provider has', 'x', access(['x']), 'model_not_found'],
    ['another model that no provider has', 'x', access(['m']), 'model_not_allowed'],
  ])('that asks for %s', async (_name, model, limits, expected) => {
    expect(await ask(model, limits)).toBe(expected)
  })

  test.each([
    [{ models: ['m', 'dear'] }, 'model_not_allowed'],
    [{ fallbacks: [{ m: ['dear'] }] }, 'model_not_allowed'],
    [{ fallbacks: [{ dear: ['m'] }] }, 'model_not_allowed'],
    [{ models: ['m'], fallbacks: [], other: ['dear'] }, 'a'],
    [{ models: null }, 'a'],
  ])('that names further models for its provider: %j', async (members, expected) => {
    const request = requestOf({ model: 'm', ...members })
    const answer = gatewayTo([fakeProvider('a', [wholeReply('a')], { models: ['m'] })]).answer(request, {
      ...callOf(),
      access: access(['m']),
    })
    const outcome = answer.then(
      ({ provider }) => provider,
      (error: unknown) => (error instanceof WireError ? error.code : error),
    )
    expect(await outcome).toBe(expected)
  })

  test('may use an alias by its own name, not by that of its model', async () => {
    const aliases = { fast: 'b/m', 'team/fast': 'b/m' }
    expect(await ask('fast', access(['fast']), aliases)).toBe('b')
    expect(await ask('fast', access(['m']), aliases)).toBe('model_not_allowed')
    expect(await ask('team/fast', access(['fast']), aliases)).toBe('model_not_allowed')
  })

  test('gets a cut stream resumed by its providers alone', async () => {
    const providers = [
      fakeProvider('a', [fakeStream(parts.text('Hel'), cutFailure())]),
      fakeProvider('b', [fakeStream(parts.text('Hello'))]),
      fakeProvider('c', [fakeStream(parts.text('Hello'))]),
    ]
    const call = { ...callOf(), access: access(['m'], ['a', 'c']) }
    const { reply } = await gatewayTo(providers).answer(streaming, call)
    if (reply.kind === 'stream') await readAll(reply)
    expect(providers.map(({ requests }) => requests.length)).toEqual([1, 0, 1])
  })
})

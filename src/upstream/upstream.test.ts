import { afterEach, describe, expect, jest, test } from 'bun:test'
import { endpointAt } from '../protocols/fixtures/load.ts'
import { openai } from '../protocols/openai.ts'
import type { Signer, UnsignedRequest } from '../protocols/protocol.ts'
import { fakeTransport } from '../protocols/testing.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { TransportError } from '../transport/transport.ts'
import { upstreamAt, type Signed } from './upstream.ts'

afterEach(() => void jest.useRealTimers())

const connectMs = 5_000
const request: UnsignedRequest = { method: 'POST', path: '/v1/x?y', body: [new Uint8Array([1])] }
const never = new Promise<never>(() => undefined)

/** Signs a request with this signer. */
function signing(signer: Signer, signal = new AbortController().signal): Signed | Promise<Signed> {
  const protocol = { ...openai, sign: () => signer }
  const upstream = upstreamAt({ transport: fakeTransport(), protocol, endpoint: endpointAt('https://x'), connectMs })
  return upstream.sign(request, signal)
}

/** The error of signing a request. */
async function failureOf(signer: Signer, signal?: AbortSignal): Promise<unknown> {
  try {
    return await signing(signer, signal)
  } catch (error) {
    return error
  }
}

describe('a request', () => {
  test('is signed by its method, path and body', () => {
    const given: unknown[] = []
    const signed = signing((unsigned) => {
      given.push(unsigned)
      return { 'X-Signature': 'a' }
    })
    expect(signed).toMatchObject({ block: 'x-signature: a\r\n' })
    expect(given).toEqual([request])
  })

  test('is signed with headers that have to be waited for', async () => {
    expect(await signing(async () => ({ authorization: 'Bearer t' }))).toMatchObject({
      block: 'authorization: Bearer t\r\n',
    })
  })

  test('has its header lines written once while its headers are the same', () => {
    const upstream = upstreamAt({
      transport: fakeTransport(),
      protocol: openai,
      endpoint: endpointAt('https://x'),
      connectMs,
    })
    const { signal } = new AbortController()
    expect(upstream.sign(request, signal)).toBe(upstream.sign(request, signal))
  })

  test('has new header lines when its headers change', () => {
    let count = 0
    const protocol = { ...openai, sign: () => () => ({ 'x-count': String(++count) }) }
    const upstream = upstreamAt({ transport: fakeTransport(), protocol, endpoint: endpointAt('https://x'), connectMs })
    const { signal } = new AbortController()
    const blocks = [1, 2].map(() => upstream.sign(request, signal)).map((signed) => 'block' in signed && signed.block)
    expect<unknown>(blocks).toEqual(['x-count: 1\r\n', 'x-count: 2\r\n'])
  })

  test('hides the credentials of its headers in failures', async () => {
    const token = 'a-token-that-was-fetched'
    const { secrets } = await signing(async () => ({
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    }))
    const failure = secrets.inFailure(new UpstreamFailure('credential', `no application/json with ${token}`))
    expect(failure).toMatchObject({ message: 'no application/json with [redacted]' })
  })
})

describe('a request that cannot be signed', () => {
  const cause = new Error('ours')
  const throwing: readonly (readonly [string, Signer])[] = [
    [
      'throws',
      () => {
        throw cause
      },
    ],
    ['rejects', () => Promise.reject(cause)],
  ]
  test.each(throwing)('because its signer %s is a failure of the credentials', async (_name, signer) => {
    expect(await failureOf(signer)).toMatchObject({
      name: 'UpstreamFailure',
      failure: 'credential',
      message: 'the request could not be signed',
      cause,
    })
  })

  test('because of a header that must not be sent is a failure of the credentials, without its value', async () => {
    for (const signer of [() => ({ host: 'other' }), async () => ({ authorization: 'a\nb' })])
      expect(await failureOf(signer)).toMatchObject({
        failure: 'credential',
        message: 'the request could not be signed',
      })
  })

  test('fails as its signer says', async () => {
    const failure = new UpstreamFailure('connect', 'the token server cannot be reached')
    expect(await failureOf(() => Promise.reject(failure))).toBe(failure)
  })

  test('within the time for a connection is a failure of the credentials', async () => {
    jest.useFakeTimers()
    const failing = failureOf(() => never)
    jest.advanceTimersByTime(connectMs + 1)
    expect(await failing).toMatchObject({ failure: 'credential', message: 'no credentials within 5 s', timedOut: true })
    expect(jest.getTimerCount()).toBe(0)
  })

  test('before the call is aborted is no failure of the provider', async () => {
    const controller = new AbortController()
    const failing = failureOf(() => never, controller.signal)
    controller.abort()
    expect(await failing).toEqual(new TransportError('aborted', 'the call was aborted'))
    expect(await failureOf(() => never, controller.signal)).toBeInstanceOf(TransportError)
  })
})

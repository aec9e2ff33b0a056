import type { OpaqueSeal } from '../formats/opaque-seal.ts'
import type { Endpoint, Protocol, RequestHeaders, UnsignedRequest } from '../protocols/protocol.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { withinMs } from '../service/within.ts'
import { headerBlock } from '../transport/header-block.ts'
import { TransportError, type HeaderBlock, type Transport, type UpstreamSignal } from '../transport/transport.ts'
import { ApiBase } from './api-base.ts'
import { hideSecrets, type HiddenSecrets } from './hide-secrets.ts'
import { originSeal } from './origin-seal.ts'

/** One provider over HTTP. */
export interface Upstream extends UpstreamOptions {
  /** Where its API is. */
  readonly base: ApiBase
  /**
   * Signs a request. Returns a promise only if the protocol does.
   *
   * @throws {UpstreamFailure} `credential` when the protocol throws, or takes longer than `connectMs`
   */
  readonly sign: (request: UnsignedRequest, signal: UpstreamSignal) => Signed | Promise<Signed>
  /** The seal for data that only a model of this upstream can read. */
  readonly sealOf: (model: string) => OpaqueSeal
}

/** Options of {@link upstreamAt}. */
export interface UpstreamOptions {
  readonly transport: Transport
  readonly protocol: Protocol
  readonly endpoint: Endpoint
  /** Time limit for a connection, and for signing a request. */
  readonly connectMs: number
}

/** The headers of a signed request. */
export interface Signed {
  readonly block: HeaderBlock
  /** Redacts the credentials among them, and those of the endpoint. */
  readonly secrets: HiddenSecrets
}

/** An upstream whose requests have one signer, so that they share its tokens. */
export function upstreamAt(options: UpstreamOptions): Upstream {
  const { protocol, endpoint, connectMs } = options
  const sign = protocol.sign(endpoint)
  let last: { readonly headers: RequestHeaders; readonly signed: Signed } | undefined

  /** Signers return the same object while their headers are the same. */
  function signedBy(headers: RequestHeaders): Signed {
    if (last?.headers !== headers)
      last = { headers, signed: { block: headerBlock(headers), secrets: hideSecrets(endpoint, headers) } }
    return last.signed
  }

  async function later(headers: Promise<RequestHeaders>, signal: UpstreamSignal): Promise<Signed> {
    try {
      return signedBy(await inTime(headers, connectMs, signal))
    } catch (error) {
      throw unsigned(error)
    }
  }

  return {
    ...options,
    base: new ApiBase(endpoint, protocol),
    sealOf: originSeal(endpoint),
    sign(request, signal) {
      try {
        const headers = sign(request)
        return headers instanceof Promise ? later(headers, signal) : signedBy(headers)
      } catch (error) {
        throw unsigned(error)
      }
    },
  }
}

/** Waits for headers, at most `ms` milliseconds, and not after the call was aborted. */
async function inTime(headers: Promise<RequestHeaders>, ms: number, signal: UpstreamSignal): Promise<RequestHeaders> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(new TransportError('aborted', 'the call was aborted'))
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const signed = await withinMs(Promise.race([headers, aborted.promise]), ms)
    if (signed !== undefined) return signed
    throw new UpstreamFailure('credential', `no credentials within ${ms / 1000} s`, { timedOut: true })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The failure of a request that could not be signed. A signer may know better, and an abort is no failure. */
function unsigned(error: unknown): unknown {
  if (error instanceof UpstreamFailure || error instanceof TransportError) return error
  return new UpstreamFailure('credential', 'the request could not be signed', { cause: error })
}

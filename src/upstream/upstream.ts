import { createHmac, pbkdf2Sync } from 'node:crypto'
import { type OpaqueSeal, opaqueSeal } from '../formats/opaque-seal.ts'
import type { Endpoint, Protocol, RequestHeaders, UnsignedRequest } from '../protocols/protocol.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { withinMs } from '../service/within.ts'
import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import {
  TransportError,
  type HeaderBlock,
  type Origin,
  type Transport,
  type UpstreamSignal,
} from '../transport/transport.ts'
import { hideSecrets, type HiddenSecrets } from './hide-secrets.ts'

/** One provider over HTTP. */
export interface Upstream extends UpstreamOptions {
  readonly origin: Origin
  /** Where its API is. */
  readonly base: ApiBase
  /**
   * Signs a request. Returns a promise only if the protocol does.
   *
   * @throws {UpstreamFailure} `credential` when the protocol throws, or takes longer than `connectMs`
   */
  readonly sign: (request: UnsignedRequest, signal: UpstreamSignal) => Signed | Promise<Signed>
  /** The key that requests are signed with now. */
  readonly key: () => string | undefined
  /** Asks for the key again, after it was refused. */
  readonly renew: () => Promise<void>
  /** The seal for data that only a model of this upstream can read. */
  readonly sealOf: (model: string) => OpaqueSeal
}

export interface UpstreamOptions {
  readonly transport: Transport
  readonly protocol: Protocol
  readonly endpoint: Endpoint
  /** Time limit for a connection, and for signing a request. */
  readonly connectMs: number
  /** Reads the key again. Absent: it does not change. */
  readonly renewedKey?: (() => Promise<string | undefined>) | undefined
}

/** The headers of a signed request. */
export interface Signed {
  readonly block: HeaderBlock
  /** Redacts the credentials among them, and those of the endpoint. */
  readonly secrets: HiddenSecrets
}

/** An upstream whose requests have one signer, so that they share its tokens. */
export function upstreamAt(options: UpstreamOptions): Upstream {
  const { protocol, connectMs, renewedKey } = options
  let { endpoint } = options
  const { id: owner, proxy, tls } = endpoint
  const passed = proxy?.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }
  let sign = protocol.sign(endpoint)
  let last: { readonly headers: RequestHeaders; readonly signed: Signed } | undefined

  /** Signers return the same object while their headers are the same. */
  function signedBy(headers: RequestHeaders): Signed {
    if (last?.headers !== headers)
      last = {
        headers,
        signed: { block: headerBlock(headers), secrets: hideSecrets(endpoint, { ...headers, ...passed }) },
      }
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
    origin: { ...parseOrigin(new URL(endpoint.baseUrl)), owner, ...(proxy && { proxy }), ...(tls && { tls }) },
    base: new ApiBase(endpoint, protocol),
    sealOf: originSeal(endpoint),
    key: () => endpoint.apiKey,
    async renew() {
      const apiKey = await withinMs(Promise.resolve(renewedKey?.()), connectMs)
      if (apiKey === undefined || apiKey === endpoint.apiKey) return
      endpoint = { ...endpoint, apiKey }
      sign = protocol.sign(endpoint)
    },
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

/**
 * Where the API of an upstream is: at its base URL, or below `/v1` of it, which owners leave out. It is looked for
 * once, after an answer without any API, and never once the API has answered.
 */
class ApiBase {
  #endpoint: Endpoint
  /** The other place, while it may be there. */
  #other: Endpoint | undefined
  #finding: Promise<void> | undefined

  constructor(endpoint: Endpoint, { models }: Pick<Protocol, 'models'>) {
    this.#endpoint = endpoint
    // Some protocols add the version themselves.
    const isVersioned = /\/v\d/.test(models.page(endpoint))
    if (!isVersioned) this.#other = { ...endpoint, baseUrl: `${endpoint.baseUrl.replace(/\/+$/, '')}/v1` }
  }

  get endpoint(): Endpoint {
    return this.#endpoint
  }

  /** The API has answered where it is asked. */
  settle(): void {
    this.#other = undefined
  }

  /** Looks for the API at the other place, once for all requests. @param isThere undefined: there was no answer */
  async find(isThere: (other: Endpoint) => Promise<boolean | undefined>): Promise<void> {
    const other = this.#other
    if (other === undefined) return
    this.#finding ??= this.#look(other, isThere)
    await this.#finding
  }

  async #look(other: Endpoint, isThere: (other: Endpoint) => Promise<boolean | undefined>): Promise<void> {
    const found = await isThere(other)
    this.#finding = undefined
    if (found === undefined || this.#other === undefined) return
    if (found) this.#endpoint = other
    this.#other = undefined
  }
}

/** Some 10 ms, once: callers see checksums, and could use them to test guesses of a short key. */
const rounds = 100_000
/** 132 bits. */
const checksumCharacters = 22

/**
 * Makes the seals of an upstream, one for each model. Their keys are derived from its base URL, key and headers, so
 * that all processes and machines with the same configuration have the same ones, also after a restart
 * (docs/decisions/0014-reasoning.md).
 */
export function originSeal({ baseUrl, apiKey, headers }: Endpoint): (model: string) => OpaqueSeal {
  const secrets = Object.entries(headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`)
  let key: Uint8Array | undefined

  function keyOf(): Uint8Array {
    key ??= pbkdf2Sync(
      JSON.stringify([apiKey ?? '', secrets.toSorted()]),
      `svc reasoning ${baseUrl}`,
      rounds,
      32,
      'sha256',
    )
    return key
  }

  return (model) =>
    opaqueSeal((text) =>
      createHmac('sha256', keyOf())
        .update(JSON.stringify([model, text]))
        .digest('base64url')
        .slice(0, checksumCharacters),
    )
}

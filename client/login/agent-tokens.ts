import { serviceUrl, member } from '../../src/base/command-line/running-service.ts'
import { UsageError } from '../../src/base/start-errors.ts'
import { isLoopbackHost } from '../../src/base/this-machine.ts'
import type { ClientHost, FormAnswer } from '../host.ts'

/** Tokens of this machine at a service. */
export interface KnownTokens {
  readonly access: string
  /** Unix milliseconds. */
  readonly expires: number
  readonly refresh: string
}

/** The service has ended the sign-in. */
export class SignInOver extends Error {
  override readonly name = 'SignInOver'
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const answerMs = 10_000
/** Characters of a text that the service shows or sends. */
const textMax = 2_048

/** Sign-in of this machine at one service (docs/agents.md). */
export class AgentSignIn {
  readonly #host: Pick<ClientHost, 'form'>
  readonly #root: string

  /** @param root as {@link serviceOrigin} gives it */
  constructor(host: Pick<ClientHost, 'form'>, root: string) {
    this.#host = host
    this.#root = root
  }

  /** Asks for a sign-in. @throws when the service lets no agents in */
  async begin(machine: string, signal: AbortSignal) {
    const found = await this.#send('/.well-known/oauth-authorization-server', undefined, signal)
    if (found.status !== 200)
      throw new Error(`${this.#root} lets no agents sign in: its owner sets "agents": true, see docs/agents.md`)
    const path = this.#pathOf(found.value, 'device_authorization_endpoint')
    const { status, value } = await this.#send(path, { surface: 'svc', machine }, signal)
    if (status !== 200) throw new Error(`${this.#root} answered with status ${status}: try again in a minute`)
    return {
      deviceCode: textIn(value, 'device_code'),
      userCode: textIn(value, 'user_code'),
      page: this.#root + this.#pathOf(value, 'verification_uri'),
      completePage: this.#root + this.#pathOf(value, 'verification_uri_complete'),
      expiresMs: numberIn(value, 'expires_in') * 1_000,
      intervalMs: numberIn(value, 'interval') * 1_000,
    }
  }

  /**
   * Asks once whether a person has let this machine in.
   *
   * @returns `undefined`: not yet; `slower`: not yet, and the interval must grow
   * @throws {SignInOver}
   */
  async poll(deviceCode: string, signal: AbortSignal): Promise<KnownTokens | 'slower' | undefined> {
    const form = { grant_type: deviceGrant, device_code: deviceCode }
    // Without an answer, it asks again.
    const answer = await this.#send('/oauth/token', form, signal).catch(() => undefined)
    if (answer?.status === 200) return tokensIn(answer.value)
    const error = member(answer?.value, 'error')
    if (error === 'slow_down') return 'slower'
    if (error === 'access_denied') throw new SignInOver('the sign-in was denied')
    if (error === 'expired_token') throw new SignInOver('the code is older than ten minutes: start again')
    return undefined
  }

  /** @throws {SignInOver} @throws without an answer, or for one that says nothing of the token */
  async refresh({ refresh }: KnownTokens, signal: AbortSignal): Promise<KnownTokens> {
    const form = { grant_type: 'refresh_token', refresh_token: refresh }
    const { status, value } = await this.#send('/oauth/token', form, signal)
    if (status === 200) return tokensIn(value)
    if (member(value, 'error') !== 'invalid_grant') throw new Error(`${this.#root} answered with status ${status}`)
    throw new SignInOver(`the sign-in at ${this.#root} is over: svc login ${this.#root}`)
  }

  async revoke({ refresh }: KnownTokens, signal: AbortSignal): Promise<void> {
    await this.#send('/oauth/revoke', { token: refresh }, signal)
  }

  #send(path: string, form: Readonly<Record<string, string>> | undefined, signal: AbortSignal): Promise<FormAnswer> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    return this.#host.form(new URL(this.#root + path), form, limit)
  }

  /** The path of an address of the service. Addresses of another origin are not asked. */
  #pathOf(value: unknown, name: string): string {
    const address = URL.parse(textIn(value, name))
    if (address === null || address.origin !== this.#root)
      throw new Error(`${this.#root} names ${name} at another address: redirect_uri of its sign-in has its own address`)
    return address.pathname + address.search
  }
}

/** The origin of a service, over https or on this machine: tokens are not sent in the clear. @throws {UsageError} */
export function serviceOrigin(url: string): string {
  const { origin, protocol, hostname } = new URL(serviceUrl(url))
  if (protocol === 'https:' || isLoopbackHost(hostname)) return origin
  throw new UsageError(`${origin}: found http, allowed: https, or http on this machine`)
}

function tokensIn(value: unknown): KnownTokens {
  return {
    access: textIn(value, 'access_token'),
    refresh: textIn(value, 'refresh_token'),
    expires: Date.now() + numberIn(value, 'expires_in') * 1_000,
  }
}

/** Visible ASCII, so that it can be printed and sent. */
function textIn(value: unknown, name: string): string {
  const text = member(value, name)
  if (typeof text === 'string' && text.length <= textMax && /^[\x21-\x7e]+$/.test(text)) return text
  throw new Error(`the service answered without ${name}: it is not svc, or of another version`)
}

function numberIn(value: unknown, name: string): number {
  const found = member(value, name)
  if (typeof found === 'number' && found > 0 && found < 1e9) return found
  throw new Error(`the service answered without ${name}: it is not svc, or of another version`)
}

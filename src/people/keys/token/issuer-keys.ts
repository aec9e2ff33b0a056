import { readFile, stat } from 'node:fs/promises'
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import { isRecord } from '../../../base/json-value.ts'
import { isThisMachine } from '../../../base/this-machine.ts'
import type { Host } from '../../../extensions/extension.ts'
import type { TokenRule } from './token-rule.ts'

/** The keys of an issuer cannot be read, and none are known. */
export class IssuerAway extends Error {
  override readonly name = 'IssuerAway'
}

/** An issuer, and where its keys are. */
export type Issuer = Pick<TokenRule, 'issuer' | 'jwksFile'>

export interface IssuerKeysOptions extends Pick<Host, 'fetch'> {
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number
  readonly warn: (message: string, fields: Readonly<Record<string, string>>) => void
}

interface KnownKeys {
  readonly find: JWTVerifyGetKey
  readonly since: number
  /** Of the file. */
  readonly changed?: number
}

interface IssuerState {
  known: KnownKeys | undefined
  /** Of the last attempt to read them. */
  tried: number
  loading: Promise<void> | undefined
  problem: unknown
}

const freshMs = 600_000
/** While the issuer is away. */
const usableMs = 86_400_000
const retryMs = 30_000
const fileMs = 5_000
const timeoutMs = 5_000
const bytesMax = 256 * 1024
const keysMax = 100

/**
 * The public keys of issuers: from a file, or as OpenID Connect Discovery 1.0 section 4 finds them. They are read anew
 * after 10 minutes, beside requests, and once in 30 s for a key that is not known. While the issuer is away they count
 * for a day.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  readonly #states = new Map<string, IssuerState>()

  constructor(options: IssuerKeysOptions) {
    this.#options = options
  }

  /** Forgets all other issuers. */
  keep(issuers: readonly Issuer[]): void {
    const names = new Set(issuers.map(nameOf))
    for (const name of this.#states.keys()) if (!names.has(name)) this.#states.delete(name)
  }

  /**
   * The keys of an issuer.
   *
   * @param isUnknown a token names a key that is not among them
   * @throws {IssuerAway}
   */
  async find(issuer: Issuer, isUnknown = false): Promise<JWTVerifyGetKey> {
    const state = this.#stateOf(issuer)
    const now = this.#options.elapsedMs()
    const { known } = state
    const age = known === undefined ? Infinity : now - known.since
    const isDue = age > (issuer.jwksFile === undefined ? freshMs : fileMs) || isUnknown
    if (isDue && (now - state.tried >= retryMs || issuer.jwksFile !== undefined)) this.#load(issuer, state)
    if (age > usableMs || isUnknown || issuer.jwksFile !== undefined) await state.loading
    if (state.known === undefined || now - state.known.since > usableMs)
      throw new IssuerAway(`the keys of ${issuer.issuer} cannot be read`, { cause: state.problem })
    return state.known.find
  }

  #stateOf(issuer: Issuer): IssuerState {
    const name = nameOf(issuer)
    const known = this.#states.get(name)
    if (known !== undefined) return known
    const state: IssuerState = { known: undefined, tried: -Infinity, loading: undefined, problem: undefined }
    this.#states.set(name, state)
    return state
  }

  #load(issuer: Issuer, state: IssuerState): void {
    state.loading ??= this.#read(issuer, state.known)
      .then(
        (known) => {
          state.known = known
          state.problem = undefined
        },
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error)
          if (state.problem === undefined)
            this.#options.warn('the keys of an issuer of tokens cannot be read', { issuer: issuer.issuer, reason })
          state.problem = error
        },
      )
      .finally(() => {
        state.loading = undefined
      })
    state.tried = this.#options.elapsedMs()
  }

  async #read({ issuer, jwksFile }: Issuer, known: KnownKeys | undefined): Promise<KnownKeys> {
    if (jwksFile === undefined) return await this.#made(await this.#fetched(issuer))
    const { mtimeMs, size } = await stat(jwksFile)
    if (mtimeMs === known?.changed) return { ...known, since: this.#options.elapsedMs() }
    if (size > bytesMax) throw new Error(`${jwksFile} has more than ${bytesMax} bytes`)
    return { ...(await this.#made(parsed(await readFile(jwksFile, 'utf8'), jwksFile))), changed: mtimeMs }
  }

  async #made(value: unknown): Promise<KnownKeys> {
    const { createLocalJWKSet } = await import('jose')
    return { find: createLocalJWKSet(keySetOf(value)), since: this.#options.elapsedMs() }
  }

  async #fetched(issuer: string): Promise<unknown> {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const configuration = await this.#json(address)
    if (!isRecord(configuration) || configuration['issuer'] !== issuer)
      throw new Error(`${address} is not the configuration of this issuer`)
    const url = URL.parse(String(configuration['jwks_uri']))
    const isHere = isThisMachine(new URL(issuer).hostname)
    if (url === null || (!isHere && (url.protocol !== 'https:' || isThisMachine(url.hostname))))
      throw new Error('its jwks_uri is not an https URL of another machine')
    return await this.#json(url.href)
  }

  async #json(url: string): Promise<unknown> {
    const headers = { accept: 'application/json', 'user-agent': 'svc' }
    const response = await this.#options.fetch(url, { method: 'GET', headers, timeoutMs, bytesMax })
    if (response.status !== 200) throw new Error(`${url} answered with status ${response.status}`)
    return parsed(await response.text(), url)
  }
}

function nameOf({ issuer, jwksFile = '' }: Issuer): string {
  return `${issuer}\n${jwksFile}`
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${place} is not JSON`)
  }
}

/** A set of public keys (RFC 7517 section 5). Secrets, with which anybody who reads them could sign, are left out. */
function keySetOf(value: unknown): JSONWebKeySet {
  const keys: readonly unknown[] = isRecord(value) && Array.isArray(value['keys']) ? value['keys'] : []
  if (keys.length === 0 || keys.length > keysMax) throw new Error(`it has no list of 1 to ${keysMax} keys`)
  return {
    keys: keys.flatMap((key) => {
      if (!isRecord(key)) return []
      const { kty } = key
      return kty === 'RSA' || kty === 'EC' || kty === 'OKP' ? [{ ...key, kty }] : []
    }),
  }
}

import type { JWTPayload } from 'jose'
import { errorCode } from '../../../base/error-code.ts'
import { WireError } from '../../../formats/error.ts'
import type { FileKey } from '../file-key.ts'
import { IssuerAway, IssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'
import { isAccepted, type TokenRule } from './token-rule.ts'

export interface TokenVerifierOptions extends IssuerKeysOptions {
  /** The keys of access.json. Another array is another configuration: verdicts of the one before do not count. */
  readonly fileKeys: () => readonly FileKey[]
  /** Unix milliseconds. */
  readonly now: () => number
}

/** A key that tokens prove. */
interface ProvenKey extends FileKey {
  readonly token: TokenRule
}

interface Verdict {
  readonly key: FileKey
  /** Unix milliseconds. */
  readonly until: number
}

const lengthMax = 16 * 1024
const verdictsMax = 10_000
const verdictCharactersMax = 16 * 1024 * 1024
const verdictMs = 60_000
const skewSeconds = 30
const lifeSecondsMax = 86_400
/** Only those with a public key. */
const algorithms = [...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA', 'Ed25519']]

/**
 * Finds the key of access.json that a token (RFC 7519) proves. A right token costs some hundred microseconds once, and
 * then a look-up, for a minute at most.
 */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions
  readonly #issuers: IssuerKeys
  /** By the token, the oldest first: a hash would cost more than all else. */
  readonly #verdicts = new Map<string, Verdict>()
  #characters = 0
  #all: readonly FileKey[] = []
  #keys: readonly ProvenKey[] = []

  constructor(options: TokenVerifierOptions) {
    this.#options = options
    this.#issuers = new IssuerKeys(options)
  }

  /** Whether a credential is a token, whose verdict is final. Without keys that tokens prove, none is. */
  takes(credential: string): boolean {
    return this.#provenKeys().length > 0 && (this.#verdicts.has(credential) || isToken(credential))
  }

  /** @throws {WireError} 401 for a token that proves no key; 503 when the keys of its issuer cannot be read */
  keyOf(token: string): FileKey | Promise<FileKey> {
    const keys = this.#provenKeys()
    const known = this.#verdicts.get(token)
    if (known !== undefined && known.until > this.#options.now()) return known.key
    if (token.length > lengthMax) throw refused(`it has more than ${lengthMax} characters`)
    return this.#verify(token, keys).then(
      ({ key, until }) => {
        // The configuration may have changed meanwhile.
        if (this.#provenKeys() === keys) this.#remember(token, { key, until })
        return key
      },
      (error: unknown) => {
        throw wireErrorOf(error)
      },
    )
  }

  #provenKeys(): readonly ProvenKey[] {
    const all = this.#options.fileKeys()
    if (all === this.#all) return this.#keys
    this.#all = all
    this.#keys = all.flatMap((key) => (key.token === undefined ? [] : [{ ...key, token: key.token }]))
    this.#verdicts.clear()
    this.#characters = 0
    this.#issuers.keep(this.#keys.map((key) => key.token))
    return this.#keys
  }

  async #verify(token: string, keys: readonly ProvenKey[]): Promise<Verdict> {
    const { decodeJwt } = await import('jose')
    const { iss } = decodeJwt(token)
    const ofIssuer = keys.filter((key) => key.token.issuer === iss)
    const [first] = ofIssuer
    if (first === undefined) throw refused('access.json names no such issuer')
    const payload = await this.#payloadOf(token, first.token)
    const key = ofIssuer.find((each) => isAccepted(each.token, payload))
    if (key === undefined) throw refused('access.json has no key for its audience and its claims')
    const now = this.#options.now()
    return { key, until: Math.min(now + verdictMs, (payload.exp ?? 0) * 1_000) }
  }

  async #payloadOf(token: string, rule: TokenRule): Promise<JWTPayload> {
    const { decodeProtectedHeader, jwtVerify } = await import('jose')
    const now = this.#options.now()
    const options = {
      algorithms,
      issuer: rule.issuer,
      requiredClaims: ['exp'],
      clockTolerance: skewSeconds,
      currentDate: new Date(now),
    }
    if (decodeProtectedHeader(token)['crit'] !== undefined) throw refused('it has "crit"')
    const keys = await this.#issuers.find(rule)
    const { payload } = await jwtVerify(token, keys, options).catch(async (error: unknown) => {
      if (errorCode(error) !== 'ERR_JWKS_NO_MATCHING_KEY') throw error
      return await jwtVerify(token, await this.#issuers.find(rule, true), options)
    })
    const { exp = Infinity, iat = 0 } = payload
    if (exp > now / 1_000 + lifeSecondsMax + skewSeconds) throw refused('it is valid for more than a day')
    if (iat > now / 1_000 + skewSeconds) throw refused('it was made in the future')
    return payload
  }

  #remember(token: string, verdict: Verdict): void {
    this.#forget(token)
    this.#verdicts.set(token, verdict)
    this.#characters += token.length
    for (const oldest of this.#verdicts.keys()) {
      if (this.#verdicts.size <= verdictsMax && this.#characters <= verdictCharactersMax) break
      this.#forget(oldest)
    }
  }

  #forget(token: string): void {
    if (this.#verdicts.delete(token)) this.#characters -= token.length
  }
}

/** Whether a text has three parts, of which the first is a JSON object with `alg` (RFC 7515 section 7.1). */
function isToken(credential: string): boolean {
  if (!credential.startsWith('ey')) return false
  const [header = '', , signature, more] = credential.split('.', 4)
  if (signature === undefined || more !== undefined || header.length > lengthMax) return false
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))
    return typeof parsed === 'object' && parsed !== null && 'alg' in parsed
  } catch {
    return false
  }
}

function wireErrorOf(error: unknown): unknown {
  if (error instanceof IssuerAway)
    return new WireError(
      503,
      'overloaded_error',
      'issuer_unavailable',
      `The token cannot be checked: ${error.message}`,
      {
        headers: { 'retry-after': '5' },
        cause: error,
      },
    )
  const reason = reasons[errorCode(error) ?? '']
  if (reason !== undefined) return refused(reason)
  return errorCode(error)?.startsWith('ERR_J') === true ? refused('its signature or its form is wrong') : error
}

/** By the codes of jose. */
const reasons: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'it has expired',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'its issuer or one of its times is not as required',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'it names no key, and its issuer has several',
  ERR_JWKS_NO_MATCHING_KEY: 'its issuer has no such key',
  ERR_JOSE_ALG_NOT_ALLOWED: 'its algorithm is not allowed',
}

function refused(reason: string): WireError {
  return new WireError(401, 'authentication_error', 'invalid_token', `The token is not valid: ${reason}`, {
    headers: { 'www-authenticate': 'Bearer realm="svc", error="invalid_token"' },
  })
}

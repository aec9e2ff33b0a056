import type { ClientAddresses } from '../../base/client-address.ts'
import { isInside } from '../../base/ip-address.ts'
import type { RequestContext } from '../../extensions/extension.ts'
import { WireError } from '../../formats/error.ts'
import { keyHeaders } from '../../formats/format-list.ts'
import type { Caller } from '../person.ts'
import type { FileKey } from './file-key.ts'
import type { KeyBook, KnownKey } from './key-book.ts'
import { claimedKey, isWellFormed, type FormedKey } from './key-form.ts'
import { withLedger } from './responses.ts'
import type { TokenVerifier } from './token/verify-token.ts'

export interface RecogniserOptions {
  readonly book: KeyBook
  /** Keys of access.json that tokens prove. */
  readonly tokens: Pick<TokenVerifier, 'takes' | 'keyOf'>
  readonly clients: Pick<ClientAddresses, 'addressOf'>
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called for the first use of a key in a minute. */
  readonly onUse: (key: KnownKey, minute: number) => void
  /** Why a key is refused now, because of its person or its team; `undefined`: it is not. */
  readonly refusalOf: (key: KnownKey, now: number) => string | undefined
}

const minuteMs = 60_000

/**
 * Recognises programs by their keys, in `Authorization: Bearer`, then the headers of API keys. The first credential
 * with a prefix of ours counts, then the first token, if tokens prove any key. A key in the URL is ignored.
 *
 * @throws {WireError} 401 for a key or token that is not valid, 403 outside its networks, 503 when a change of the
 *   keys, or the issuer of a token, cannot be read
 */
export function keyRecogniser({
  book,
  tokens,
  clients,
  now,
  onUse,
  refusalOf,
}: RecogniserOptions): (context: RequestContext) => Caller | undefined | Promise<Caller> {
  function admit(key: KnownKey | undefined, sent: FormedKey, context: RequestContext): Caller {
    const time = now()
    if (key === undefined && !isWellFormed(sent)) throw malformedKey()
    if (key === undefined) throw unknownKey()
    return admitKnown(key, context, time)
  }

  function admitKnown(key: KnownKey, context: RequestContext, time: number): Caller {
    if (key.expires <= time) throw unknownKey()
    const refusal = refusalOf(key, time)
    if (refusal !== undefined) throw invalidKey(`The key is not valid now: ${refusal}`)
    checkNetwork(key, context)
    const minute = time - (time % minuteMs)
    if (key.usedAt < minute) {
      key.usedAt = minute
      onUse(key, minute)
    }
    return key.caller
  }

  function checkNetwork({ networks }: KnownKey, context: RequestContext): void {
    if (networks === undefined) return
    const address = clients.addressOf(context)
    if (address !== undefined && networks.some((network) => isInside(address, network))) return
    throw new WireError(
      403,
      'permission_error',
      'network_not_allowed',
      'This key may not be used from the network of this client',
    )
  }

  function recogniseToken(headers: Headers, context: RequestContext): Caller | undefined | Promise<Caller> {
    const token = credentialsIn(headers).find((credential) => tokens.takes(credential))
    if (token === undefined) return undefined
    const proven = tokens.keyOf(token)
    return proven instanceof Promise ? proven.then((key) => admitProven(key, context)) : admitProven(proven, context)
  }

  function admitProven(key: FileKey, context: RequestContext): Caller {
    const known = book.inFile(key)
    // The file has changed meanwhile.
    if (known === undefined) throw unknownKey()
    return admitKnown(known, context, now())
  }

  return function recogniseKey(context) {
    const { headers } = context.request
    const key = keyOf(headers)
    if (key === undefined) return recogniseToken(headers, context)
    const found = book.find(key)
    return found instanceof Promise
      ? withLedger(async () => admit(await found, key, context))
      : admit(found, key, context)
  }
}

function credentialsIn(headers: Headers): readonly string[] {
  const all = [bearerOf(headers.get('authorization')), ...keyHeaders.map((name) => headers.get(name))]
  return all.flatMap((credential) => credential ?? [])
}

/** @throws {WireError} 401 */
function keyOf(headers: Headers): FormedKey | undefined {
  const first = claimed(bearerOf(headers.get('authorization')))
  if (first !== undefined) return first
  for (const name of keyHeaders) {
    const key = claimed(headers.get(name) ?? undefined)
    if (key !== undefined) return key
  }
  return undefined
}

/** The token of `Authorization: Bearer`, as nearly all clients write it, or in another case or with more blanks. */
function bearerOf(authorization: string | null): string | undefined {
  if (authorization === null) return undefined
  return authorization.startsWith('Bearer sk-svc_')
    ? authorization.slice('Bearer '.length)
    : /^bearer +(\S+)$/i.exec(authorization)?.[1]
}

function claimed(credential: string | undefined): FormedKey | undefined {
  const key = credential === undefined ? undefined : claimedKey(credential)
  if (key === 'malformed') throw malformedKey()
  return key
}

function unknownKey(): WireError {
  return invalidKey('The key is not valid: it is unknown, has ended or has expired')
}

function malformedKey(): WireError {
  return invalidKey('The key is not valid: a part of it is missing or changed')
}

function invalidKey(message: string): WireError {
  return new WireError(401, 'authentication_error', 'invalid_api_key', message, {
    headers: { 'www-authenticate': 'Bearer realm="svc", error="invalid_token"' },
  })
}

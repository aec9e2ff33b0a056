import type { JsonObject } from '../../wire/json-value.ts'
import type { Identity } from './identity-provider.ts'
import type { UserFields } from './settings.ts'

/** The identity provider describes somebody whom we cannot tell from others. */
export class NoIdentity extends Error {
  override readonly name = 'NoIdentity'
  readonly reason: 'no_id' | 'no_username' | 'email_not_verified'
  constructor(reason: NoIdentity['reason']) {
    super(reason)
    this.reason = reason
  }
}

const idMax = 256
const nameMax = 256
/** RFC 5321 section 4.5.3.1. */
const emailMax = 320
const avatarMax = 2048

/** Control and format characters, among them those that turn the direction of what follows, and line separators. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const everyUnseen = new RegExp(unseen, 'gu')

/**
 * A person, from what a user endpoint answers or an id_token claims. Exactly the members that `fields` names are read.
 * Id and user name tell people apart, so they are taken as they are or not at all; the rest is for the eye, is cleaned,
 * and may be empty. A user name that is an e-mail address has to be verified: by `email_verified`, which OpenID Connect
 * has and plain OAuth 2.0 may have.
 *
 * @throws {NoIdentity}
 */
export function readIdentity(answer: JsonObject, fields: UserFields, kind: 'oauth' | 'openid'): Identity {
  const valueOf = (name: string): unknown => (name !== '' && Object.hasOwn(answer, name) ? answer[name] : undefined)
  const userId = readId(valueOf(fields.id))
  if (userId === undefined) throw new NoIdentity('no_id')
  const userName = distinct(valueOf(fields.username), nameMax)
  if (userName === undefined) throw new NoIdentity('no_username')
  const verified = valueOf('email_verified')
  // Some servers tell it as text.
  const isVerified = verified === true || verified === 'true'
  const isUnknown = verified === undefined || verified === null
  if (fields.username === 'email' && !isVerified && (kind === 'openid' || !isUnknown))
    throw new NoIdentity('email_not_verified')
  return {
    userId,
    userName,
    displayName: readDisplayName(valueOf(fields.displayName)) ?? userName,
    profileUrl: readAvatar(valueOf(fields.avatar)) ?? '',
    email: isVerified || isUnknown ? (readEmail(valueOf(fields.email)) ?? '') : '',
  }
}

/** Numbers beyond 2^53 are no numbers any more when they come out of JSON: two people might share one. */
function readId(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : distinct(value, idMax)
}

/** A text that is not empty, nor looks so, nor like another one. */
function distinct(value: unknown, lengthMax: number): string | undefined {
  const isDistinct =
    typeof value === 'string' &&
    value.length <= lengthMax &&
    value.isWellFormed() &&
    value.trim() !== '' &&
    !unseen.test(value)
  return isDistinct ? value : undefined
}

function readDisplayName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const clean = value
    .slice(0, 4 * nameMax)
    .toWellFormed()
    .replace(everyUnseen, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const cut = clean
    .slice(0, nameMax)
    .replace(/[\ud800-\udbff]$/, '')
    .trim()
  return cut === '' ? undefined : cut
}

/** An address that the provider vouches for, for the eye. */
export function readEmail(value: unknown): string | undefined {
  const email = distinct(value, emailMax)
  return email === undefined || /\s/.test(email) ? undefined : email
}

/** Never fetched by us; shown by a page, in an `<img>`. */
function readAvatar(value: unknown): string | undefined {
  const url = typeof value === 'string' && value.length <= avatarMax ? URL.parse(value) : null
  const isShown =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.href.length <= avatarMax
  return isShown ? url.href : undefined
}

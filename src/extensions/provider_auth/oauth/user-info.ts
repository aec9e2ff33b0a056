import type { JsonObject } from '../../../base/json-value.ts'
import type { UserFields } from '../settings/settings.ts'
import type { Identity } from './identity-provider.ts'

/** The user endpoint's answer does not identify a user. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError'
  readonly reason: 'no_id' | 'no_username' | 'reserved_username' | 'email_not_verified'
  /** For the log: the member that was wanted, and those that came. Without values. */
  readonly members: string | undefined
  constructor(reason: IdentityError['reason'], members?: string) {
    super(reason)
    this.reason = reason
    this.members = members
  }
}

const namesShown = 20

/** Names of an answer's members that may be logged. */
function namesIn(answer: JsonObject): string {
  const names = Object.keys(answer).filter((name) => /^[\w.:/-]{1,64}$/.test(name))
  return names.length > namesShown ? `${names.slice(0, namesShown).join(', ')}, …` : names.join(', ') || 'none'
}

const idMax = 256
const nameMax = 256
/** RFC 5321 section 4.5.3.1. */
const emailMax = 320
const avatarMax = 2048

/** Control and format characters, including bidirectional controls, and line separators. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const everyInvisible = new RegExp(invisible, 'gu')

/** Authors in the log, the audit and lists of keys that are no people. Some providers let users choose any name. */
const reservedName = /^(?:key:|command line$|without sign-in$)/i

/**
 * Reads a user from the answer of a user endpoint or the claims of an id_token. Only the members in `fields` are read.
 * Id and user name are used unchanged, or rejected. The other members are for display: they are cleaned and may be
 * empty. An e-mail address used as id or user name must be verified by `email_verified`, if the provider sends it, and
 * always with OpenID Connect.
 *
 * @param all members that came, whose names a fault has
 * @throws {IdentityError}
 */
export function readIdentity(
  answer: JsonObject,
  fields: UserFields,
  kind: 'oauth' | 'openid',
  all: JsonObject = answer,
): Identity {
  const valueOf = (name: string): unknown => (name !== '' && Object.hasOwn(answer, name) ? answer[name] : undefined)
  const userId = readId(valueOf(fields.id))
  if (userId === undefined) throw new IdentityError('no_id')
  const userName = distinctText(valueOf(fields.username), nameMax)
  if (userName === undefined)
    throw new IdentityError('no_username', `found no usable '${fields.username}' among ${namesIn(all)}`)
  if (reservedName.test(userName)) throw new IdentityError('reserved_username')
  const isVerified = emailTrust(valueOf('email_verified'))
  const isByEmail = [fields.id, fields.username].includes('email')
  const isTrusted = isVerified ?? kind === 'oauth'
  if (isByEmail && !isTrusted) throw new IdentityError('email_not_verified')
  return {
    userId,
    userName,
    displayName: readDisplayName(valueOf(fields.displayName)) ?? userName,
    profileUrl: readAvatar(valueOf(fields.avatar)) ?? '',
    email: isVerified === false ? '' : (readEmail(valueOf(fields.email)) ?? ''),
  }
}

/** Whether the provider says that the address is the person's; `undefined`: it says nothing. */
function emailTrust(verified: unknown): boolean | undefined {
  // Some servers send a string.
  return verified === undefined || verified === null ? undefined : verified === true || verified === 'true'
}

/** Rejects numbers beyond 2^53: JSON parsing rounds them, so that two users could get the same id. */
function readId(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : distinctText(value, idMax)
}

/** A string that is neither blank nor can look like another one. */
function distinctText(value: unknown, lengthMax: number): string | undefined {
  const isDistinct =
    typeof value === 'string' &&
    value.length <= lengthMax &&
    value.isWellFormed() &&
    value.trim() !== '' &&
    !invisible.test(value)
  return isDistinct ? value : undefined
}

function readDisplayName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const clean = value
    .slice(0, 4 * nameMax)
    .toWellFormed()
    .replace(everyInvisible, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const cut = clean
    .slice(0, nameMax)
    .replace(/[\ud800-\udbff]$/, '')
    .trim()
  return cut === '' ? undefined : cut
}

/** An e-mail address for display; the caller checks that it is verified. */
export function readEmail(value: unknown): string | undefined {
  const email = distinctText(value, emailMax)
  return email === undefined || /\s/.test(email) ? undefined : email
}

/** URL of a picture, for an `<img>` of the page. The service never fetches it. */
function readAvatar(value: unknown): string | undefined {
  const url = typeof value === 'string' && value.length <= avatarMax ? URL.parse(value) : null
  const isValid =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.href.length <= avatarMax
  return isValid ? url.href : undefined
}

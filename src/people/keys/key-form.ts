/** Kind of a key. A `management` key makes and ends keys, and cannot call models. */
export type KeyKind = 'program' | 'management'

/** A credential in the form of a key of this service. */
export interface FormedKey {
  readonly kind: KeyKind
  /** The whole key, as it was made. Secret. */
  readonly text: string
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 38
const checksumLength = 6

/** Client programs insist on `sk-`, and some on 51 characters. Secret scanners know a key by its prefix. */
const prefixes: Readonly<Record<KeyKind, string>> = { program: 'sk-svc_', management: 'svcm_' }
/** Also accepted: double clicks leave `sk-` out. */
const shortPrefix = 'svc_'
/** Tokens of agents, `svc_at_…` and `svc_rt_…`: no key has a second `_`. */
const otherCredential = /^svc_[a-z]{2}_/

const bodyLength = randomLength + checksumLength
const bodyPattern = new RegExp(`^[0-9A-Za-z]{${bodyLength}}$`)

/** Makes a new key with 226 random bits. */
export function newKey(kind: KeyKind): string {
  const start = prefixes[kind] + randomDigits(randomLength)
  return start + checksumOf(start)
}

/**
 * Reads a credential.
 *
 * @returns the key; `malformed`: it has a prefix of ours and a wrong length, character or checksum; `undefined`: no
 *   prefix of ours
 */
export function readKey(credential: string): FormedKey | 'malformed' | undefined {
  const key = claimedKey(credential)
  return key === undefined || key === 'malformed' || isWellFormed(key) ? key : 'malformed'
}

/**
 * Reads a credential by its beginning and length alone. Most keys are found by their hash; of others
 * {@link isWellFormed} looks at the characters.
 *
 * @returns the key; `malformed`: it has a prefix of ours and a wrong length; `undefined`: no prefix of ours
 */
export function claimedKey(credential: string): FormedKey | 'malformed' | undefined {
  if (otherCredential.test(credential)) return undefined
  const whole = credential.startsWith(shortPrefix) ? `sk-${credential}` : credential
  const kind = kindOf(whole)
  if (kind === undefined) return undefined
  return whole.length === prefixes[kind].length + bodyLength ? { kind, text: whole } : 'malformed'
}

/** Whether the characters of a key are allowed, and its checksum is right. */
export function isWellFormed({ kind, text }: FormedKey): boolean {
  const start = text.slice(0, -checksumLength)
  return bodyPattern.test(text.slice(prefixes[kind].length)) && text.endsWith(checksumOf(start))
}

function kindOf(credential: string): KeyKind | undefined {
  if (credential.startsWith(prefixes.program)) return 'program'
  return credential.startsWith(prefixes.management) ? 'management' : undefined
}

/** The SHA-256 of a key in base64. Only this is stored. A slow hash would not help: 226 random bits are not guessed. */
export function hashOfKey({ text }: FormedKey): string {
  return Bun.SHA256.hash(text, 'base64')
}

/** The first ten and the last four characters, by which people tell keys apart. */
export function hintOfKey({ text }: FormedKey): string {
  return `${text.slice(0, 10)}…${text.slice(-4)}`
}

/** CRC-32 in base 62. It finds every single changed character without a look-up. */
function checksumOf(start: string): string {
  let rest = Bun.hash.crc32(start)
  let text = ''
  for (let position = 0; position < checksumLength; position += 1) {
    text = (digits[rest % digits.length] ?? '') + text
    rest = Math.floor(rest / digits.length)
  }
  return text
}

function randomDigits(length: number): string {
  let text = ''
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte: larger values would prefer some digits. Few bytes are larger.
    const bytes = crypto.getRandomValues(new Uint8Array(length - text.length + 8))
    for (const byte of bytes) if (byte < 248 && text.length < length) text += digits[byte % digits.length]
  }
  return text
}

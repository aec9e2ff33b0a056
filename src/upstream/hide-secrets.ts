import type { Endpoint, RequestHeaders } from '../protocols/protocol.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { readings } from './encoded-text.ts'

/** Shorter values are common words. */
const keyLengthMin = 4
const headerLengthMin = 8
/**
 * Shorter secrets are redacted in messages only. The body classifies the failure, and a placeholder key such as `token`
 * may occur in it as a word.
 */
const bodyLengthMin = 8
/** This many adjacent bytes of a secret are redacted; of shorter secrets the whole. */
const runLength = 12

const hidden = '[redacted]'

/** Names of headers with credentials, such as `x-api-key` and `x-amz-security-token`. */
const credentialNames = /authorization|key|token|secret|signature/i

/**
 * Redacts the API key and configured header values from a provider's error messages. Providers may repeat them, and no
 * pattern matches every key. Finds them whole, and any 12 adjacent bytes of them, also percent-encoded, HTML-escaped or
 * JSON-escaped, nested up to three times.
 */
export interface HiddenSecrets {
  /** Redacts the body of an error. Call it before the body is parsed. */
  inBody(body: Uint8Array): Uint8Array
  /** Redacts the message of a failure. Returns any other error unchanged. */
  inFailure(error: unknown): unknown
}

/** @param signed headers of a request: those that carry credentials are secrets too */
export function hideSecrets(
  { apiKey, headers }: Pick<Endpoint, 'apiKey' | 'headers'>,
  signed: RequestHeaders = {},
): HiddenSecrets {
  const credentials = Object.entries(signed).filter(([name]) => credentialNames.test(name))
  // Without the scheme, such as `Bearer`, which is no secret.
  const values = new Set([...Object.values(headers), ...credentials.map(([, value]) => value.replace(/^[\w-]+ /, ''))])
  const secrets = [
    ...[apiKey ?? ''].filter(({ length }) => length >= keyLengthMin),
    // Providers repeat `Bearer` with the token, or the token alone.
    ...[...values].flatMap((value) => [value, ...value.split(/\s+/)]).filter(({ length }) => length >= headerLengthMin),
  ].toSorted((one, other) => other.length - one.length)
  // Computed on first use: most providers never fail.
  let ofBody: readonly Runs[] | undefined, ofMessage: readonly Runs[] | undefined

  return {
    inBody(body) {
      const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
      ofBody ??= runsOf(secrets.filter(({ length }) => length >= bodyLengthMin))
      const clean = withoutRuns(text, ofBody)
      return clean === text ? body : Buffer.from(clean, 'latin1')
    },
    inFailure(error) {
      if (!(error instanceof UpstreamFailure)) return error
      const shown = secrets.reduce(withoutCut, error.message),
        text = latin1(shown)
      const clean = withoutRuns(text, (ofMessage ??= runsOf(secrets)))
      const message = clean === text ? shown : Buffer.from(clean, 'latin1').toString()
      return message === error.message
        ? error
        : new UpstreamFailure(error.failure, message, { ...error, cause: error.cause })
    },
  }
}

/** The UTF-8 bytes of a text, one character each. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Byte runs of one length to search for. */
interface Runs {
  readonly length: number
  readonly texts: Set<string>
  /** Every three adjacent bytes of them. Other triples of a text exclude a run around them, so the search can skip. */
  readonly triples: Set<number>
}

function runsOf(secrets: readonly string[]): readonly Runs[] {
  const all = new Map<number, Runs>()
  for (const secret of secrets.map(latin1)) {
    const length = Math.min(secret.length, runLength)
    const runs = all.get(length) ?? { length, texts: new Set(), triples: new Set() }
    for (let start = 0; start + length <= secret.length; start += 1) runs.texts.add(secret.slice(start, start + length))
    for (let start = 0; start + 3 <= secret.length; start += 1) runs.triples.add(tripleAt(secret, start))
    all.set(length, runs)
  }
  return [...all.values()]
}

function tripleAt(text: string, start: number): number {
  return (text.charCodeAt(start) << 16) | (text.charCodeAt(start + 1) << 8) | text.charCodeAt(start + 2)
}

/** Redacts the pieces of secrets in a text: as it is, and in each encoding that {@link readings} decodes. */
function withoutRuns(text: string, all: readonly Runs[]): string {
  const marks = new Uint8Array(text.length)
  let isClean = true
  for (const { text: reading, starts } of readings(text)) {
    for (const { length, texts, triples } of all) {
      for (let start = 0; start + length <= reading.length;) {
        if (!triples.has(tripleAt(reading, start + length - 3))) {
          start += length - 2
          continue
        }
        if (texts.has(reading.slice(start, start + length))) {
          marks.fill(1, starts[start], starts[start + length])
          isClean = false
        }
        start += 1
      }
    }
  }
  if (isClean) return text
  const pieces: string[] = []
  for (let start = 0, end = 0; start < text.length; start = end) {
    const isMarked = marks[start] === 1
    end = marks.indexOf(isMarked ? 0 : 1, start)
    if (end === -1) end = text.length
    pieces.push(isMarked ? hidden : text.slice(start, end))
  }
  return pieces.join('')
}

/** Redacts the beginning of a secret at the end of a shortened text. */
function withoutCut(text: string, secret: string): string {
  if (!text.endsWith('…')) return text
  const shown = text.slice(0, -1)
  for (let length = Math.min(secret.length, shown.length); length >= keyLengthMin; length -= 1) {
    if (shown.endsWith(secret.slice(0, length))) return shown.slice(0, -length) + hidden
  }
  return text
}

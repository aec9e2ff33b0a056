import { UpstreamFailure } from '../service/failure.ts'
import type { Connection } from './protocol.ts'

/** Shorter ones are words that stand everywhere. */
const keyLengthLeast = 4,
  headerLengthLeast = 8
/**
 * What a failure means is read out of its body: a key that is but a word, such as `token` for a server that asks for
 * none, is only taken out of what is told of it.
 */
const bodyLengthLeast = 8

const hidden = '[redacted]'

/**
 * Takes a provider's key, and what the owner's headers say, out of what it says of its failures: it may repeat them,
 * and no pattern knows every key.
 */
export interface HiddenSecrets {
  /** The body of an error, before anything else is done to it. */
  inBody(body: Uint8Array): Uint8Array
  /** A failure that was made of whatever else it sent; anything but a failure is given back as it is. */
  inFailure(error: unknown): unknown
}

export function hideSecrets({ apiKey, headers }: Pick<Connection, 'apiKey' | 'headers'>): HiddenSecrets {
  const values = Object.values(headers)
  const secrets = [
    ...[apiKey ?? ''].filter(({ length }) => length >= keyLengthLeast),
    // `Bearer` and a token are repeated as one, or the token alone.
    ...[...values, ...values.flatMap((value) => value.split(/\s+/))].filter(
      ({ length }) => length >= headerLengthLeast,
    ),
  ].toSorted((one, other) => other.length - one.length)
  const inBytes = secrets.filter(({ length }) => length >= bodyLengthLeast).map(latin1)

  return {
    inBody(body) {
      const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
      const clean = inBytes.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
      return clean === text ? body : Buffer.from(clean, 'latin1')
    },
    inFailure(error) {
      if (!(error instanceof UpstreamFailure)) return error
      const message = secrets.reduce(without, error.message)
      return message === error.message
        ? error
        : new UpstreamFailure(error.failure, message, { ...error, cause: error.cause })
    },
  }
}

/** Its bytes, a character each. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function without(text: string, secret: string): string {
  const clean = text.replaceAll(secret, hidden)
  if (!clean.endsWith('…')) return clean
  // The text was shortened, perhaps in the middle of it.
  const shown = clean.slice(0, -1)
  for (let length = secret.length - 1; length >= keyLengthLeast; length -= 1) {
    if (shown.endsWith(secret.slice(0, length))) return shown.slice(0, -length) + hidden
  }
  return clean
}

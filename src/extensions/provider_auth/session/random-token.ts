import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const tokenForm = /^[A-Za-z0-9_-]{43}$/

/** Creates a secret token: 32 random bytes in base64url, 43 characters (docs/sign-in.md). */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a text has the form of a {@link randomToken}. */
export function isToken(text: string): boolean {
  return tokenForm.test(text)
}

/** SHA-256 in base64url. Tokens are stored only as this hash; a fast hash suffices for 256 random bits. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** Compares two hashes in constant time. */
export function areEqualHashes(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

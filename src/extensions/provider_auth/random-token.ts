import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const tokenForm = /^[A-Za-z0-9_-]{43}$/

/** A new secret: 32 random bytes, base64url, 43 characters (docs/sign-in.md). */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a text could be one of {@link randomToken}. */
export function isToken(text: string): boolean {
  return tokenForm.test(text)
}

/** SHA-256, base64url. Tokens are kept as this and nothing else; for 256 random bits a fast hash is the right one. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** Whether two hashes are equal, in a time that does not tell where they differ. */
export function areEqualHashes(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

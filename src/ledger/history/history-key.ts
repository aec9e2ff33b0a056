/** The owner's keys: all other keys are sealed with them. */
export interface OwnerKeys {
  readonly current: OwnerKey
  /** The one before. */
  readonly previous?: OwnerKey
}

/** A key of AES-256-GCM, with its public id. */
export interface OwnerKey {
  /** The beginning of the SHA-256 of the key. */
  readonly id: string
  readonly key: CryptoKey
}

/** The text is not a key. The message does not contain it. */
export class BadHistoryKey extends Error {
  override readonly name = 'BadHistoryKey'
}

const keyBytes = 32

/** Reads a key: 32 bytes in base64, base64url or hexadecimal. @throws {BadHistoryKey} */
export async function readOwnerKey(text: string): Promise<OwnerKey> {
  const bytes = bytesOf(text.trim())
  if (bytes?.length !== keyBytes)
    throw new BadHistoryKey(
      'found another text, allowed: 32 random bytes in base64 or hexadecimal, as by openssl rand -base64 32',
    )
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return { id: digest.toHex().slice(0, 16), key: await importKey(bytes) }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Uint8Array.fromHex(text)
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=$/, '')
  return /^[A-Za-z0-9+/]{43}$/.test(plain) ? Uint8Array.fromBase64(`${plain}=`) : undefined
}

/** A key of AES-256-GCM, that cannot be read out again. */
export async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/** A new random key. */
export function newKeyBytes(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(keyBytes))
}

import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { LedgerUnavailable } from '../ledger.ts'

const form = 1
const nonceBytes = 12
const tagBits = 128
/** Before it: the form and the nonce. */
const headBytes = 1 + nonceBytes

/** The names of a sealed thing and of its owner: bytes that are sealed for one place open at no other. */
export type SealContext = readonly string[]

/** Encrypts by AES-256-GCM: form (1 byte), nonce (12 bytes), ciphertext with its tag. */
export async function seal(key: CryptoKey, plain: Uint8Array<ArrayBuffer>, context: SealContext): Promise<Uint8Array> {
  const iv = crypto.getRandomValues(new Uint8Array(nonceBytes))
  const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm(iv, context), key, plain))
  const bytes = new Uint8Array(headBytes + sealed.length)
  bytes[0] = form
  bytes.set(iv, 1)
  bytes.set(sealed, headBytes)
  return bytes
}

/** Decrypts what {@link seal} has made. @throws {LedgerUnavailable} the bytes were changed, or are of another place */
export async function unseal(key: CryptoKey, sealed: Uint8Array, context: SealContext): Promise<Uint8Array> {
  try {
    if (sealed[0] !== form) throw new Error('the form is unknown')
    const bytes = Uint8Array.from(sealed)
    const iv = bytes.subarray(1, headBytes)
    return new Uint8Array(await crypto.subtle.decrypt(algorithm(iv, context), key, bytes.subarray(headBytes)))
  } catch (error) {
    throw new LedgerUnavailable('a stored conversation was changed from outside, and cannot be decrypted', {
      cause: error,
    })
  }
}

function algorithm(iv: Uint8Array<ArrayBuffer>, context: SealContext) {
  const additionalData = new TextEncoder().encode(JSON.stringify(['svc history', ...context]))
  return { name: 'AES-GCM', iv, additionalData, tagLength: tagBits } as const
}

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Encrypts a text, or its bytes in UTF-8, which are compressed before. */
export async function sealText(key: CryptoKey, text: string | Uint8Array, context: SealContext): Promise<Uint8Array> {
  return await seal(key, Uint8Array.from(await compress(text)), context)
}

/** @param bytesMax of the text @throws {LedgerUnavailable} */
export async function unsealText(
  key: CryptoKey,
  sealed: Uint8Array,
  { context, bytesMax }: { readonly context: SealContext; readonly bytesMax: number },
): Promise<string> {
  const packed = await unseal(key, sealed, context)
  return (await decompress(packed, { maxOutputLength: bytesMax })).toString('utf8')
}

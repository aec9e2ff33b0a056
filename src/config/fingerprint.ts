/** Tells whether the content of a file is still the same: a SHA-256 in hex, or `missing` for no file. */
export function fingerprint(content: string | Uint8Array | undefined): string {
  return content === undefined ? 'missing' : new Bun.CryptoHasher('sha256').update(content).digest('hex')
}

/** Identifies the content of a file: its SHA-256 in hex, or `missing` without a file. */
export function fingerprint(content: string | Uint8Array | undefined): string {
  return content === undefined ? 'missing' : new Bun.CryptoHasher('sha256').update(content).digest('hex')
}

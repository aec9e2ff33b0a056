import { write } from 'node:fs'

const againMs = 10

/**
 * Writes to a file descriptor, such as 1 for standard output, on a thread of its own: one whose reader has stopped holds nobody up.
 * (`process.stdout` and `Bun.stdout.writer()` keep what is not taken, without bound.)
 * The returned function rejects when the descriptor is closed at the other end; call it again only when its promise has settled.
 */
export function descriptorWriter(descriptor: number): (text: string) => Promise<void> {
  return async function writeText(text) {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) written += await writeSome(descriptor, bytes, written)
  }
}

function writeSome(descriptor: number, bytes: Buffer, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, from, bytes.length - from, null, (error, written) => {
      if (error === null) resolve(written)
      // Somebody else made the shared terminal or pipe non-blocking.
      else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), againMs)
      else reject(error)
    })
  })
}

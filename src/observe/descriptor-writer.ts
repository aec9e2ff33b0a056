import { write } from 'node:fs'

const againMs = 10
/**
 * So much is written to a pipe at once or not at all: PIPE_BUF of Linux (pipe(7)). Beyond it, what others write may
 * come between.
 */
const wholeBytesMax = 4_096
const newline = 0x0a

/** What may be said of a descriptor. */
export interface DescriptorOptions {
  /**
   * Other processes write to it too: each write holds whole lines and at most 4,096 bytes, so that no line is mixed
   * with theirs. A longer line is written by itself, and may be. Default `false`: as much at once as there is.
   */
  readonly isShared?: boolean
}

/**
 * Writes to a file descriptor, such as 1 for standard output, on a thread of its own: one whose reader has stopped
 * holds nobody up. (`process.stdout` and `Bun.stdout.writer()` keep what is not taken, without bound.) The returned
 * function rejects when the descriptor is closed at the other end; call it again only when its promise has settled.
 */
export function descriptorWriter(
  descriptor: number,
  { isShared = false }: DescriptorOptions = {},
): (text: string) => Promise<void> {
  return async function writeText(text) {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length;) {
      const end = isShared ? endOfWholeLines(bytes, written) : bytes.length
      while (written < end) written += await writeSome(descriptor, bytes, written, end)
    }
  }
}

/** Where the lines end that are written at once. */
function endOfWholeLines(bytes: Buffer, from: number): number {
  if (bytes.length - from <= wholeBytesMax) return bytes.length
  const last = bytes.lastIndexOf(newline, from + wholeBytesMax - 1)
  if (last >= from) return last + 1
  const first = bytes.indexOf(newline, from)
  return first === -1 ? bytes.length : first + 1
}

function writeSome(descriptor: number, bytes: Buffer, from: number, end: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, from, end - from, null, (error, written) => {
      if (error === null) resolve(written)
      // Somebody else made the shared terminal or pipe non-blocking.
      else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), againMs)
      else reject(error)
    })
  })
}

import { write } from 'node:fs'

const againMs = 10
/** Most bytes of an atomic write to a pipe: PIPE_BUF of Linux (pipe(7)). Larger writes may mix with other writers'. */
const wholeBytesMax = 4_096
const newline = 0x0a

export interface DescriptorOptions {
  /**
   * Other processes write to the descriptor, too: each write then contains whole lines of at most 4,096 bytes together,
   * so that lines do not mix. A longer line is written by itself and may mix. Default: `false`, no limit.
   */
  readonly isShared?: boolean
}

/**
 * Makes a function that writes to a file descriptor, such as 1 for standard output, on another thread, so that a
 * blocked reader does not block this process. (`process.stdout` and `Bun.stdout.writer()` buffer without limit.) It
 * rejects when the descriptor is closed at the other end. Call it again only after its promise has settled.
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

/** The end of the lines that one write may contain. */
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
      // Another process has made the shared terminal or pipe non-blocking.
      else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), againMs)
      else reject(error)
    })
  })
}

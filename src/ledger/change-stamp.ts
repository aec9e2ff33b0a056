import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'

/**
 * A number in a file that all processes of this machine have mapped into memory. A write is visible to the next read in
 * every process. SQLite's write-ahead log needs the same facility.
 */
export interface ChangeStamp {
  read(): number
  write(value: number): void
}

const bytes = 4

/** Maps the file, which is made if needed. @throws {Error} of the operating system */
export function openStamp(path: string): ChangeStamp {
  const descriptor = openSync(path, 'a+', 0o600)
  try {
    // Written, not extended: on a full disk a page without a block would end the process when it is used.
    if (fstatSync(descriptor).size < bytes) writeSync(descriptor, new Uint8Array(bytes))
  } finally {
    closeSync(descriptor)
  }
  const mapped = Bun.mmap(path)
  const view = new Int32Array(mapped.buffer, mapped.byteOffset, 1)
  return {
    // Atomic, so that no compiler keeps an earlier value.
    read: () => Atomics.load(view, 0),
    write: (value) => void Atomics.store(view, 0, value),
  }
}

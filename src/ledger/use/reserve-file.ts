import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

const bytes = 8 * 1024 * 1024
/** The reserve is made only if this much space is left beside it. */
const spareBytes = 64 * 1024 * 1024

/** Space that is given up when the disk is full, so that sums and ends of keys can still be written. */
export interface ReserveFile {
  /** Makes the file, unless it exists or the disk is nearly full. Never throws. @returns whether it exists */
  make(): boolean
  /** @returns whether there was a file */
  release(): boolean
}

/** The reserve at a path. */
export function reserveFile(path: string): ReserveFile {
  function remove(): void {
    rmSync(path, { force: true })
  }

  return {
    make() {
      try {
        const { bavail, bsize } = statfsSync(dirname(path))
        if (existsSync(path)) return true
        if (bavail * bsize < bytes + spareBytes) return false
        const descriptor = openSync(path, 'w', 0o600)
        try {
          // Written, not extended: only blocks that exist can be given up.
          const block = new Uint8Array(1024 * 1024)
          for (let written = 0; written < bytes; written += block.length) writeSync(descriptor, block)
        } finally {
          closeSync(descriptor)
        }
        return true
      } catch {
        remove() // Without a reserve the service works as well.
        return false
      }
    },
    release() {
      const wasThere = existsSync(path)
      remove()
      return wasThere
    },
  }
}

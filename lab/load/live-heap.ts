import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Measured } from './slope.ts'

/** Live heap of a process after a full garbage collection. */
export interface LiveHeapLine {
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly pid: number
  /** Objects, and memory outside of the heap that they own. */
  readonly mebibytes: number
}

/** Measures the live heaps of a service that is started with this environment. */
export interface LiveHeap extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>
  /** Measurements since `beganMs` (milliseconds since 1970). */
  measured(beganMs: number): Promise<readonly Measured[]>
}

/**
 * Makes every process collect its garbage each `everyMs` and report its live heap. Unlike resident memory it does not
 * vary with garbage and fragmentation.
 */
export async function liveHeap(everyMs: number): Promise<LiveHeap> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-live-heap-')),
    file = join(folder, 'live-heap.jsonl')
  await writeFile(file, '')
  return {
    environment: {
      LIVE_HEAP_FILE: file,
      LIVE_HEAP_EVERY_MS: String(everyMs),
      BUN_OPTIONS: `--preload=${join(import.meta.dir, 'report-live-heap.ts')}`,
    },
    async measured(beganMs) {
      const lines = (await readFile(file, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .map((line): LiveHeapLine => JSON.parse(line))
      return lines
        .map(({ atMs, pid, mebibytes }) => ({
          atSeconds: (atMs - beganMs) / 1_000,
          values: new Map([[pid, mebibytes]]),
        }))
        .filter(({ atSeconds }) => atSeconds >= 0)
    },
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  }
}

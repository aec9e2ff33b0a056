import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Measured } from './slope.ts'

/** What a process holds at one moment that is not garbage. */
export interface LiveHeapLine {
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly pid: number
  /** Objects, and the memory outside of the heap that hangs on them. */
  readonly mebibytes: number
}

/** A look at the live heaps of the processes of a service that is started with this environment. */
export interface LiveHeap extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>
  /** What they have told since `beganMs` (milliseconds since 1970). */
  measured(beganMs: number): Promise<readonly Measured[]>
}

/**
 * Has every process collect its garbage now and then, and tell what lives after it: exact, where resident memory
 * breathes with garbage and fragments.
 */
export async function liveHeap(everyMs: number): Promise<LiveHeap> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-live-heap-')),
    file = join(folder, 'told.jsonl')
  await writeFile(file, '')
  return {
    environment: {
      LIVE_HEAP_FILE: file,
      LIVE_HEAP_EVERY_MS: String(everyMs),
      BUN_OPTIONS: `--preload=${join(import.meta.dir, 'tell-live-heap.ts')}`,
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

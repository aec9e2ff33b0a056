import { heapStats } from 'bun:jsc'
import { appendFileSync } from 'node:fs'
import type { LiveHeapLine } from './live-heap.ts'

/** Preloaded into every process of a service whose live heap is measured; see `./live-heap.ts`. */
const everyMs = Number(process.env['LIVE_HEAP_EVERY_MS']),
  file = process.env['LIVE_HEAP_FILE']

function report(path: string): void {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  const line: LiveHeapLine = { atMs: Date.now(), pid: process.pid, mebibytes: (heapSize + extraMemorySize) / 2 ** 20 }
  appendFileSync(path, `${JSON.stringify(line)}\n`)
}

if (file !== undefined && process.argv[1]?.endsWith('src/main.ts') === true)
  setInterval(() => report(file), everyMs).unref()

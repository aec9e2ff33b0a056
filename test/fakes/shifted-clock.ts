import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The wall clock of a service under test, in all its processes and threads. Timers are not affected. */
export interface ShiftedClock extends Disposable {
  /** Variables of a service with this clock. */
  readonly environment: Readonly<Record<string, string>>
  /** Sets the clock to the real time plus `ms`, at once. */
  shift(ms: number): void
}

/** Makes a clock that shows the real time. */
export function shiftedClock(): ShiftedClock {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'))
  const file = join(folder, 'shift')
  writeFileSync(file, new Float64Array(1))
  const shared = new Float64Array(Bun.mmap(file).buffer)
  return {
    environment: {
      BUN_OPTIONS: `--preload ${join(import.meta.dir, 'shifted-clock-preload.ts')}`,
      SVC_TEST_CLOCK: file,
    },
    shift(ms) {
      shared[0] = ms
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

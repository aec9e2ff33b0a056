import { readdirSync, readlinkSync } from 'node:fs'
import type { ServiceConfig, ServiceUnderTest } from '../harness.ts'
import { workersOf } from '../process-tree.ts'
import { steadily } from './steadily.ts'

/** What happens to a service while it is under load. */
export interface Disturbances {
  readonly configurations: readonly ServiceConfig[]
  readonly reloadMs: number
  /** Between rolling restarts; `undefined`: none. */
  readonly rollMs: number | undefined
  /** Between the deaths of workers by SIGKILL; `undefined`: none. */
  readonly killMs: number | undefined
}

/** What has happened so far. */
export interface Disturbing {
  readonly reloads: number
  readonly rolls: number
  readonly kills: number
  /** Sockets that the killed workers had: an upper bound of what could break. */
  readonly socketsKilled: number
  /**
   * Whether a worker was killed since then (`performance.now()`), or so shortly before that the kernel still spread
   * connections to it.
   */
  hasKilledSince(ms: number): boolean
  stop(): Promise<void>
}

/** Begins to reconfigure a service, to restart its workers and to kill them, each in its own time. */
export function disturb(
  service: ServiceUnderTest,
  { configurations, reloadMs, rollMs, killMs }: Disturbances,
): Disturbing {
  let reloads = 0,
    rolls = 0,
    kills = 0,
    socketsKilled = 0,
    killedAt = Number.NEGATIVE_INFINITY

  async function reload(): Promise<void> {
    const configuration = configurations[++reloads % configurations.length]
    if (configuration !== undefined) await service.configure(configuration)
  }

  function roll(): void {
    rolls++
    process.kill(service.pid, 'SIGUSR2')
  }

  function kill(): void {
    const workers = workersOf(service.pid),
      victim = workers[Math.floor(Math.random() * workers.length)]
    if (victim === undefined) return
    kills++
    socketsKilled += socketsOf(victim)
    killedAt = performance.now()
    process.kill(victim, 'SIGKILL')
  }

  const all = [
    steadily(reloadMs, reload),
    ...(rollMs === undefined ? [] : [steadily(rollMs, roll)]),
    ...(killMs === undefined ? [] : [steadily(killMs, kill)]),
  ]
  return {
    get reloads() {
      return reloads
    },
    get rolls() {
      return rolls
    },
    get kills() {
      return kills
    },
    get socketsKilled() {
      return socketsKilled
    },
    hasKilledSince: (ms) => killedAt >= ms - spreadMs,
    async stop() {
      await Promise.all(all.map((each) => each.stop()))
    },
  }
}

/** The kernel takes a moment to take a dead process's sockets away. */
const spreadMs = 100

function socketsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter((descriptor) =>
      readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:'),
    ).length
  } catch {
    // It ended in this moment, or closed one of them.
    return 0
  }
}

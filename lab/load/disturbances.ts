import { readdirSync, readlinkSync } from 'node:fs'
import type { ServiceConfig, ServiceUnderTest } from '../../test/harness.ts'
import { workersOf } from '../../test/process-tree.ts'
import { steadily } from './steadily.ts'

/** Reloads, rolling restarts and kills of a service under load. */
export interface Disturbances {
  readonly configurations: readonly ServiceConfig[]
  readonly reloadMs: number
  /** Interval of rolling restarts; `undefined`: none. */
  readonly rollMs: number | undefined
  /** Interval of SIGKILLs to a worker; `undefined`: none. */
  readonly killMs: number | undefined
}

/** Running disturbances, with their counts so far. */
export interface Disturbing {
  readonly reloads: number
  readonly rolls: number
  readonly kills: number
  /** Sockets of the killed workers: an upper bound of requests that may break. */
  readonly socketsKilled: number
  /**
   * Whether a worker was killed since `ms` (`performance.now()`), or shortly before: the kernel still assigns
   * connections to a killed worker for a moment.
   */
  hasKilledSince(ms: number): boolean
  stop(): Promise<void>
}

/** Starts to reload, restart and kill, each at its own interval. */
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

/** Time in which the kernel removes the sockets of a killed process. */
const spreadMs = 100

function socketsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter((descriptor) =>
      readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:'),
    ).length
  } catch {
    // The process just ended, or closed a descriptor meanwhile.
    return 0
  }
}

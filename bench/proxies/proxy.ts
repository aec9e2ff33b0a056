import type { Installed } from '../installed.ts'
import type { RunningProgram } from '../processes.ts'
import type { ProgramName } from '../programs.ts'

/** What a proxy needs to know to be started. */
export interface ProxySetting {
  /** 127.0.0.1, where the mock upstream listens. */
  readonly upstreamPort: number
  /** The core it must stay on. */
  readonly core: number
  /** An empty directory of its own, for its configuration and output. */
  readonly directory: string
  /** To be told of each process as it starts, so that it is ended whatever happens. */
  readonly register: (program: RunningProgram) => void
}

/** A proxy that takes requests, or soon will. */
export interface RunningProxy {
  readonly program: RunningProgram
  readonly port: number
  /** Request headers it needs to find the upstream. */
  readonly headers: Readonly<Record<string, string>>
  /** Where chat completions are asked for, if not at the usual path. */
  readonly path?: string
}

/**
 * `service`: ours. `gateway`: reads requests for models, as ours does. `relay`: passes HTTP on without looking into
 * bodies. `floor`: no product, but what the runtime costs.
 */
export type ProxyKind = 'service' | 'gateway' | 'relay' | 'floor'

/** One contender: how to start it. */
export interface Proxy {
  /** As in `--peers` and the table. */
  readonly name: string
  readonly kind: ProxyKind
  /** What is compared, in a few words for the table's foot. */
  readonly setup: string
  readonly needs: readonly ProgramName[]
  /** Gets what it needs beyond programs of the system. @throws ProgramError when that cannot be had. */
  readonly prepare: () => Promise<void>
  /** Its name and version. Call after `prepare`. */
  readonly version: () => Promise<string>
  /**
   * What stands on the disk for it. Call after `prepare`. Absent where that says nothing. @throws ProgramError when it
   * cannot be found out.
   */
  readonly installed?: () => Promise<Installed>
  /** Starts it, without waiting until it listens. */
  readonly launch: (setting: ProxySetting) => Promise<RunningProxy>
}

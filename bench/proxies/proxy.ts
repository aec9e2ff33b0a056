import type { ProgramName } from '../programs.ts'
import type { RunningProgram } from '../processes.ts'

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

/** A proxy that takes requests. */
export interface RunningProxy {
  readonly program: RunningProgram
  readonly port: number
  /** Request headers it needs to find the upstream. */
  readonly headers: Readonly<Record<string, string>>
}

/** One contender: how to start it. */
export interface Proxy {
  /** As in `--peers` and the table. */
  readonly name: string
  /** What is compared, in a few words for the table's foot. */
  readonly setup: string
  readonly needs: readonly ProgramName[]
  /** Gets what it needs beyond programs of the system. @throws ProgramError when that cannot be had. */
  readonly prepare: () => Promise<void>
  /** Its name and version. Call after `prepare`. */
  readonly version: () => Promise<string>
  /** Resolves when it listens. @throws ProgramError when it does not. */
  readonly start: (setting: ProxySetting) => Promise<RunningProxy>
}

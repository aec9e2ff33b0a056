import type { ProtocolName, Quirks } from './config.ts'

/** A well-known provider of models: what is the same for all its customers. */
export interface Brand {
  /** What a provider's `id` or `brand` says. */
  readonly id: string
  /** For people. */
  readonly name: string
  readonly protocol: ProtocolName
  /** Without a trailing slash. Empty for `echo`. */
  readonly baseUrl: string
  /** Environment variables that may hold its key; the first that is set is used. None: it needs no key. */
  readonly keys: readonly string[]
  /** Answers on this machine, at this port of 127.0.0.1. */
  readonly port?: number
  /**
   * Whether a key in the environment is enough to use it unasked. Not so where the variable commonly serves other
   * purposes.
   */
  readonly isDetected: boolean
  /** Web page that lists its models. */
  readonly modelsPage?: string
  /** Model names where it has no `GET /models`. */
  readonly models?: readonly string[]
  readonly quirks: Quirks
  /** Where the base URL and each quirk are documented. */
  readonly sources: readonly string[]
}

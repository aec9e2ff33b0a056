import type { ProtocolName, Quirks } from './config.ts'

/** A known provider of models: the settings that all its customers share. */
export interface Brand {
  /** Name for a provider's `id` or `brand` in the configuration. */
  readonly id: string
  /** Display name. */
  readonly name: string
  readonly protocol: ProtocolName
  /** Without a trailing slash. Empty for `echo`. */
  readonly baseUrl: string
  /** Environment variables for the API key; the first that is set is used. Empty: no key is needed. */
  readonly keys: readonly string[]
  /** Port of a server on 127.0.0.1. */
  readonly port?: number
  /**
   * Whether a key in the environment is enough to use the brand without a configuration file. False when the variable
   * commonly serves other purposes.
   */
  readonly isDetected: boolean
  /** Web page of the free tier: daily requests without a payment method. An initial credit does not count. */
  readonly freeTier?: string
  /** Web page that lists its models. */
  readonly modelsPage?: string
  /** Model names, for brands without `GET /models`. */
  readonly models?: readonly string[]
  readonly quirks: Quirks
  /** Where the base URL and each quirk are documented. */
  readonly sources: readonly string[]
}

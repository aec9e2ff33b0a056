import type { FurtherFormat } from '../formats/ask.ts'
import type { OfferedModel, Price } from '../formats/model.ts'
import type { Owners } from '../people/owners.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import type { Certificates, HttpProxy } from '../transport/transport.ts'

/*
 * One typed configuration. `file/` reads the files (JSON with comments) by tables of shapes (`shapes/`), and names
 * file, line and field of each fault; `$NAME` of the environment is resolved there and nowhere else (`file/resolve-
 * provider.ts`). `edit/` writes files for the page and keeps comments. `watch/` follows changes: a new text is taken
 * over whole or not at all. `catalogue.ts` has the brands, as data. The JSON Schemas for editors are written from the
 * same tables.
 */

/** A fault in a configuration file, for messages. */
export interface ConfigFault {
  readonly file: string
  /** From 1; absent for a fault of the whole file. */
  readonly line?: number
  readonly column?: number
  /** Path of the field, such as `providers[1].timeouts.connect_ms`; empty for the whole file. */
  readonly field: string
  readonly found: string
  readonly allowed: string
}

/** A configuration cannot be used. Contains all faults, not only the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly ConfigFault[]
  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(formatFault).join('\n'))
    this.faults = faults
  }
}

/** `providers.json:12:5: providers[1].base_url: found "foo", allowed: an http or https URL` */
export function formatFault(fault: ConfigFault): string {
  const location = fault.line === undefined ? fault.file : `${fault.file}:${fault.line}:${fault.column ?? 1}`
  return `${location}: ${fault.field === '' ? '' : `${fault.field}: `}found ${fault.found}, allowed: ${fault.allowed}`
}

export type ProtocolName = 'openai' | 'anthropic' | 'gemini' | 'echo'

/** Timeouts of a provider, in milliseconds (docs/configuration.md#timers). */
export interface Timeouts {
  /** For DNS lookup, TCP and TLS. Default 5,000. */
  readonly connectMs: number
  /** From the request to the first meaningful event of a stream. Default 30,000. */
  readonly firstTokenMs: number
  /** `firstTokenMs` is the owner's, and holds for models that think in silence, too. */
  readonly isFirstTokenSet?: boolean
  /** Between two events of a stream after its commit. Default 60,000. */
  readonly idleMs: number
  /** From the request to the whole answer, without streaming. Default 120,000. */
  readonly attemptMs: number
}

/** Facts of a brand beside its profiles (`profiles/known-profiles.ts`). */
export interface Quirks {
  /** The costs that the provider reports in its usage are what it bills. */
  readonly reportsCost: boolean
  /** A server on this machine, which bills nothing. */
  readonly isFree: boolean
  /** Formats that the provider speaks itself, beside that of its protocol. */
  readonly formats: readonly FurtherFormat[]
}

/** A setting without which a provider cannot be used. */
export interface Lack {
  /**
   * `unset`: none of the variables is set. `invalid`: the value of the variable does not fit. `missing_file`: the file
   * is missing or empty. `invalid_file`: it does not hold what it should.
   */
  readonly code: 'unset' | 'invalid' | 'no_base_url' | 'missing_file' | 'invalid_file'
  /** Names of environment variables, or the path of a file; none for `no_base_url`. */
  readonly variables: readonly string[]
  /** It is the provider's key. */
  readonly isKey?: true
}

/** One provider, completed from the catalogue and the environment. */
export interface ProviderConfig {
  readonly id: string
  /** The brand it was completed from, if any. */
  readonly brand?: string
  /** Brand whose prices in the list that comes with svc hold: the base URL is the brand's own. */
  readonly listedBrand?: string
  readonly enabled: boolean
  /** Why the enabled provider cannot be used, such as `GROQ_API_KEY is not set`: its {@link lacks} in words. */
  readonly unavailable?: string
  /** Settings without which the provider cannot be used, enabled or not. */
  readonly lacks?: readonly Lack[]
  readonly protocol: ProtocolName
  /** Without a trailing slash. Empty for `echo`. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** The name of the key in the environment: a variable, or a key file (`fileVariable`). Absent: in the entry. */
  readonly keyName?: string
  /** The files that hold its key, its proxy and its certificates. */
  readonly files?: readonly string[]
  /** The proxy on the way. Absent: none. */
  readonly proxy?: HttpProxy
  readonly tls?: Certificates
  /** It gets the traces of requests. Default: false. */
  readonly trace?: boolean
  /** Additional request headers, with variables resolved. */
  readonly headers: Readonly<Record<string, string>>
  /** `'*'`: the provider's own list. */
  readonly models: '*' | readonly OfferedModel[]
  readonly timeouts: Timeouts
  /** Retries at the same provider, 0 to 5. */
  readonly retries: number
  readonly maxConcurrent?: number
  /** What becomes of an answer by another model than was asked for. Default: it is delivered. */
  readonly onOtherModel?: 'serve' | 'next'
  /** Request fields that are always sent to the provider with these JSON values. */
  readonly overrides: Readonly<Record<string, unknown>>
  /** Request fields that are sent with these JSON values where the caller sends none. Absent: none. */
  readonly defaults?: Readonly<Record<string, unknown>>
  readonly quirks: Quirks
  /** Of models without a price of their own. */
  readonly price?: Price
  /** The owner's fields of the profile of all its models. */
  readonly profile: Partial<TargetProfile>
}

export interface Limits {
  /** Most bytes of a request body. Default 32 MiB. */
  readonly bodyBytes: number
  /** Milliseconds for a request with all its attempts. Default 600,000. */
  readonly deadlineMs: number
  /** Most concurrent requests; further ones get 503. Default: half of the descriptors. */
  readonly maxConcurrent?: number
  /** Most bytes of all request bodies in memory. Default: a quarter of the memory, at most 512 MiB. */
  readonly bodyBudgetBytes?: number
}

export interface FailoverConfig {
  readonly onContentPolicy: 'stop' | 'next'
  readonly onCut: 'resume' | 'error'
  /** Calls of a stream wait until they are complete while another provider could take over, or pass at once. */
  readonly hold: 'calls' | 'none'
  /** Requests for pictures and speech are repeated at the next provider although they may have been billed. */
  readonly retryBilled: boolean
}

/** Titles of conversations on the page. */
export interface TitlesConfig {
  /** Name under which clients ask for the model. */
  readonly model: string
}

/** The whole configuration, immutable. A reload makes a new one. */
export interface Config {
  /** In the order in which they are tried. */
  readonly providers: readonly ProviderConfig[]
  readonly limits: Limits
  readonly failover: FailoverConfig
  /** Name that clients use → model name. */
  readonly aliases: Readonly<Record<string, string>>
  /** The service's name on the page. Absent: `svc`. */
  readonly name?: string
  /** The model that the page asks for titles of conversations. Absent: a title is the first line. */
  readonly titles?: TitlesConfig
  /** Where the conversations of people who have signed in are stored. Absent: in their browsers. */
  readonly history?: 'server'
  /** Days without a change after which conversations at the service are deleted, unless pinned. Absent: never. */
  readonly historyDays?: number
  /** Users who may change the providers. Absent: all users; empty: none. */
  readonly owners?: Owners
  /** Names of the extensions to run, without the flag and the variable. Absent: none. */
  readonly auth?: readonly string[]
  /** Origin: a file, providers detected on this machine, or only the built-in echo. */
  readonly source:
    | { readonly kind: 'file'; readonly path: string; /** Of the file's text. */ readonly fingerprint?: string }
    | { readonly kind: 'detected' }
    | { readonly kind: 'echo' }
}

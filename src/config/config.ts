/** A fault in a configuration file, ready to show: file, line, field, what was found, what is allowed. */
export interface ConfigFault {
  readonly file: string
  /** From 1; absent when the file as a whole is at fault. */
  readonly line?: number
  readonly column?: number
  /** Path of the field, such as `providers[1].timeouts.connect_ms`; empty for the file as a whole. */
  readonly field: string
  readonly found: string
  readonly allowed: string
}

/** A configuration cannot be used. Carries every fault, not only the first. */
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
  const place = fault.line === undefined ? fault.file : `${fault.file}:${fault.line}:${fault.column ?? 1}`
  return `${place}: ${fault.field === '' ? '' : `${fault.field}: `}found ${fault.found}, allowed: ${fault.allowed}`
}

export type ProtocolName = 'openai' | 'anthropic' | 'gemini' | 'echo'

/** USD per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cachedInput?: number
}

/** One model at one provider. */
export interface ModelConfig {
  /** What clients ask for. */
  readonly name: string
  /** What the provider calls it; default: `name`. */
  readonly upstream: string
  readonly aliases: readonly string[]
  /** Tokens. */
  readonly context?: number
  /** Tokens. */
  readonly maxOutput?: number
  /** Modalities such as `text`, `image`. */
  readonly input?: readonly string[]
  readonly price?: Price
}

/** All in milliseconds (docs/configuration.md, timers). */
export interface Timeouts {
  /** Name look-up, TCP and TLS. Default 5,000. */
  readonly connectMs: number
  /** Request → first meaningful event of a stream. Default 30,000. */
  readonly firstTokenMs: number
  /** Between two reads of a stream after its commit. Default 60,000. */
  readonly idleMs: number
  /** Request → whole body, not streaming. Default 120,000. */
  readonly attemptMs: number
}

/** How a brand departs from the common format. From the catalogue; data, not code. */
export interface Quirks {
  /** Top-level request fields this provider knows by another name: ours → theirs. */
  readonly rename: Readonly<Record<string, string>>
  /** Top-level request fields this provider refuses: left out. */
  readonly drop: readonly string[]
  /** It continues a trailing assistant message, so an interrupted stream is resumed by asking it to go on. */
  readonly continuation: boolean
  /**
   * It reports usage in streams only if `stream_options.include_usage` is sent, and accepts that field: sent for the
   * record where the caller leaves it out.
   */
  readonly streamUsage: boolean
}

/** One upstream, resolved and ready to use. */
export interface ProviderConfig {
  readonly id: string
  /** The catalogue entry it was completed from, if any. */
  readonly brand?: string
  readonly enabled: boolean
  /** Why it cannot be used although enabled, such as `GROQ_API_KEY is not set`. */
  readonly unavailable?: string
  /** Why it could not be used even if it were enabled. */
  readonly lacks?: string
  readonly protocol: ProtocolName
  /** Without a trailing slash. Empty for `echo`. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** Extra request headers, resolved. */
  readonly headers: Readonly<Record<string, string>>
  /** `'*'`: ask the provider. */
  readonly models: '*' | readonly ModelConfig[]
  readonly timeouts: Timeouts
  /** Same-provider retries, 0 to 5. */
  readonly retries: number
  readonly maxConcurrent?: number
  /** Request fields forced for this provider: field → JSON value. */
  readonly overrides: Readonly<Record<string, unknown>>
  readonly quirks: Quirks
}

export interface Limits {
  /** Default 32 MiB. */
  readonly bodyBytes: number
  /** Whole request over all attempts. Default 600,000. */
  readonly deadlineMs: number
  /** Requests in flight; above: 503. Default: half of the descriptors. */
  readonly maxConcurrent?: number
  /** Bytes of request bodies held at once; above: 503. Default: a quarter of the memory, at most 512 MiB. */
  readonly bodyBudgetBytes?: number
}

export interface FailoverOptions {
  readonly onContentPolicy: 'stop' | 'next'
  readonly onCut: 'resume' | 'error'
}

/** Everything the gateway needs to know, as one immutable value. A reload makes a new one. */
export interface Config {
  /** Array order is try-order. */
  readonly providers: readonly ProviderConfig[]
  readonly limits: Limits
  readonly failover: FailoverOptions
  /** Name clients use → model name. */
  readonly aliases: Readonly<Record<string, string>>
  /** User names of those who may change the providers. Absent: everybody may; empty: nobody. */
  readonly owners?: readonly string[]
  /** Where it came from: a file, what was found on this machine, or nothing at all (then the echo answers). */
  readonly source:
    | { readonly kind: 'file'; readonly path: string; /** Of the text that was read. */ readonly fingerprint?: string }
    | { readonly kind: 'detected' }
    | { readonly kind: 'echo' }
}

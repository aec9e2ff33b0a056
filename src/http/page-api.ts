/**
 * What the page and the service tell each other under `/api/` (docs/api.md). Types only: the page imports this file and
 * no other of this room. Times are Unix milliseconds, durations milliseconds, prices USD per million tokens, costs
 * USD.
 */

/** `GET /api/boot`: public; what the page must know before it shows anything. */
export interface Boot {
  readonly version: string
  /** Somebody has to be signed in to use the service. */
  readonly isClosed: boolean
  /** Who is there; absent: nobody, or nobody needs to be. */
  readonly user?: User
  /** May change the providers and see everybody's requests. */
  readonly isOwner: boolean
  /** Parts of the page that extensions bring. */
  readonly parts: readonly PartEntry[]
}

/** Somebody who is signed in, for their own eyes. */
export interface User {
  /** Tells their conversations from others'. */
  readonly id: string
  readonly userName: string
  readonly displayName: string
  /** Empty when not known. */
  readonly email: string
  /** An https address; empty when not known. */
  readonly avatarUrl: string
}

/** A part of the page that an extension brings. */
export interface PartEntry {
  /** Name of the extension. */
  readonly extension: string
  /** Address of its module, whose export `part` is a `PagePart` of web/slots.ts. */
  readonly module: string
  /** The slots it replaces: no others are taken from it. */
  readonly slots: readonly string[]
  /** What the extension wants its part to know, such as a display name. No secrets: everybody may read it. */
  readonly settings: Readonly<Record<string, string>>
}

/** `GET /api/models`. */
export interface ModelsAnswer {
  readonly models: readonly ModelEntry[]
  /** Nothing is configured and nothing was found: the built-in echo answers. */
  readonly isEchoOnly: boolean
  /** Where providers.json is, or would be; for owners only. */
  readonly file?: string
  /** Why the file as it is now is not in force; for owners only. */
  readonly notice?: ReloadNotice
}

/** One model, under the name that clients ask for. */
export interface ModelEntry {
  readonly name: string
  /** Who serves it, in try-order. */
  readonly offers: readonly ModelOffer[]
}

/** A model as one provider offers it. */
export interface ModelOffer {
  readonly provider: string
  readonly upstream: string
  readonly context?: number
  readonly maxOutput?: number
  /** `text`, `image`, … */
  readonly input?: readonly string[]
  readonly price?: Price
}

/** USD per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cachedInput?: number
}

/** A changed configuration file that was not taken over. */
export interface ReloadNotice {
  readonly time: number
  /** One fault a line: file, line, field, what was found, what is allowed. */
  readonly faults: readonly string[]
}

/** `GET /api/providers`, and the answer to every change. */
export interface ProvidersAnswer {
  /** Of the file's text: what a change is based on. Absent when there is no file, and nothing can be changed. */
  readonly version?: string
  readonly source: 'file' | 'detected' | 'echo'
  /** Where providers.json is, or would be; for owners only. */
  readonly file?: string
  readonly notice?: ReloadNotice
  /** In try-order. */
  readonly providers: readonly ProviderEntry[]
}

/** How a provider is doing. */
export type ProviderState =
  /** Asked in its turn. */
  | { readonly kind: 'ok' }
  /** Left alone until then. */
  | { readonly kind: 'cooling'; readonly until: number; readonly why: string }
  /** Asked, but its last attempts failed. */
  | { readonly kind: 'failing'; readonly why: string }
  /** Not asked: switched off. */
  | { readonly kind: 'off' }
  /** Not asked, although switched on: a key is missing, and the like. */
  | { readonly kind: 'unavailable'; readonly why: string }

/** One provider, for its owner. No key, no header. */
export interface ProviderEntry {
  readonly id: string
  readonly protocol: string
  /** Name of the brand, where it is a known one. */
  readonly brand?: string
  /** Scheme, host, port and path; for owners only. */
  readonly baseUrl?: string
  readonly enabled: boolean
  readonly state: ProviderState
  /**
   * Models cooling by themselves, while the provider as a whole is not. At most 1,000; for owners also those that it
   * does not list.
   */
  readonly coolingModels: readonly string[]
  /** `undefined`: it has not told them. At most 1,000. */
  readonly models?: readonly string[]
  /** How many it offers. */
  readonly modelCount?: number
  /** Over the attempts of the last hour, at most the last 500. */
  readonly attempts: AttemptSums
  readonly lastError?: { readonly time: number; readonly why: string; readonly model: string; readonly status?: number }
}

/** What came of the attempts at one provider. */
export interface AttemptSums {
  readonly count: number
  /** Attempts that answered. */
  readonly ok: number
  /** Of streams, to the first token. Absent: none. */
  readonly firstTokenP50?: number
  readonly firstTokenP95?: number
}

/** `POST /api/providers`: one change. 409 `conflict` when the file is another than `version`. */
export interface ProviderChange {
  readonly version: string
  readonly id: string
  readonly change: 'enable' | 'disable' | 'up' | 'down'
}

/** `POST /api/providers/test`: asks one provider for one token, now. Answer: {@link ProviderTest}. */
export interface ProviderTestRequest {
  readonly id: string
  /** Default: the first it offers. */
  readonly model?: string
}

/** What came of a test. */
export interface ProviderTest {
  readonly ok: boolean
  readonly ms: number
  readonly model?: string
  readonly status?: number
  /** Why it failed. */
  readonly why?: string
}

/** One request, as it is remembered. No content. `GET /api/requests/{id}` gives one. */
export interface RequestEntry {
  readonly time: number
  readonly id: string
  /** User name of who asked, where people sign in. */
  readonly user?: string
  readonly model: string
  readonly stream: boolean
  /** 499: the caller left. */
  readonly status: number
  /** Code of the error. */
  readonly error?: string
  /** Who served it. */
  readonly provider?: string
  readonly trail: readonly TrailEntry[]
  readonly firstTokenMs?: number
  readonly totalMs: number
  readonly promptTokens?: number
  readonly completionTokens?: number
  /** USD. Absent where the price is not known. */
  readonly cost?: number
}

/** One attempt of a request. */
export interface TrailEntry {
  readonly provider: string
  /** HTTP status of the upstream; absent: none came. */
  readonly status?: number
  /** Class of the failure, such as `rate_limit`; absent: it answered. */
  readonly failure?: string
  readonly ms: number
}

/** The requests that ended in one minute. */
export interface MinuteEntry {
  /** Its beginning, Unix milliseconds. */
  readonly time: number
  readonly requests: number
  /** Requests with an error of any kind, callers who left apart. */
  readonly errors: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly firstTokenP50?: number
  readonly firstTokenP95?: number
}

/**
 * `GET /api/requests`: as JSON everything there is; with `Accept: text/event-stream` a stream of these: the first has
 * everything, the following what is new. An owner gets everybody's, others their own.
 */
export interface RequestsAnswer {
  /** Oldest first, at most 1,000. */
  readonly requests: readonly RequestEntry[]
  /** Oldest first, at most 60, those without requests left out. In a stream: those that changed. */
  readonly minutes: readonly MinuteEntry[]
}

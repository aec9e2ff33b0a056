import type { OfferedModel, Price } from '../../formats/model.ts'
import type { AskedProvider, MinuteSums, RequestEntry, TrailEntry } from '../../observe/request-entry.ts'
import type { KeyView } from '../../people/keys/key-view.ts'

/**
 * Messages between the page and the service under `/api/` (docs/api.md). Types only: the page imports no other file of
 * this room. Times are Unix milliseconds, durations milliseconds, prices USD per million tokens, costs USD.
 */

/** `GET /api/boot`, public: data that the page needs to start. */
export interface Boot {
  readonly version: string
  /** The service can be used only after sign-in. */
  readonly isClosed: boolean
  /** The signed-in user; absent without sign-in. */
  readonly user?: User
  /** May change the providers and see the requests of all users. */
  readonly isOwner: boolean
  /** Use is kept: `GET /api/usage` answers. Absent: it is not. */
  readonly hasUsage?: true
  /**
   * Milliseconds that content of the visitor's own requests is kept; 0: that of others only. Absent: no content is
   * kept.
   */
  readonly contentKeptMs?: number
  /** There are keys, and the user may have some: `GET /api/keys` answers. */
  readonly hasKeys?: true
  /** There is a folder for access.json, and the user is an owner. */
  readonly hasLimits?: true
  /** The user is an owner, and people sign in: `GET /api/people` answers. */
  readonly hasPeople?: true
  /** The model that the page asks for titles of conversations. Absent: none. */
  readonly titleModel?: string
  /** Conversations of the user are stored by the service, too: `GET /api/history` answers. */
  readonly hasHistory?: true
  /** Teams whose keys and use the user may see: a lead those that they lead, an owner all. Absent: none. */
  readonly teams?: readonly string[]
  /** Parts of the page that extensions bring. */
  readonly parts: readonly PartEntry[]
}

/** `GET /api/history?after=N`: changed conversations of the user. `whole=1`: all of them, without the removed ones. */
export interface HistoryAnswer {
  /** Days without a change after which conversations are deleted, unless pinned. Absent: never. */
  readonly days?: number
  /** Id of the database: another one has other numbers. */
  readonly database: string
  /** Number of the user, which changes when they are forgotten. 0: nothing is stored. */
  readonly person: number
  /** The number of the last change. */
  readonly last: number
  /** Removals after the wanted number are not known any more: the whole list must be read. */
  readonly isTooOld: boolean
  /** More entries follow the last one. */
  readonly isCut: boolean
  /** In the order of their changes. */
  readonly entries: readonly HistoryEntry[]
}

/** The last change of a conversation. */
export interface HistoryEntry {
  readonly id: string
  /** The number of the change. */
  readonly version: number
  readonly isRemoved: boolean
}

/** `POST /api/history/read`: some of the wanted conversations, at least one that there is. */
export interface HistoryBodies {
  readonly conversations: readonly {
    readonly id: string
    readonly version: number
    /** As a page has written it. */
    readonly conversation: unknown
  }[]
}

/** `POST` and `DELETE` of `/api/history/conversations/{id}?base=VERSION`. */
export interface HistoryVersion {
  /** The new version; 0: it was removed before. */
  readonly version: number
}

/** The signed-in user, as shown to themselves. */
export interface User {
  /** Separates their conversations from those of other users. */
  readonly id: string
  readonly userName: string
  readonly displayName: string
  /** Empty if unknown. */
  readonly email: string
  /** An https URL; empty if unknown. */
  readonly avatarUrl: string
}

/** A part of the page that an extension brings. */
export interface PartEntry {
  /** Name of the extension. */
  readonly extension: string
  /** Language → URL path of its module, whose export `part` is a `PagePart` of web/slots.ts. */
  readonly modules: Readonly<Record<string, string>>
  /** The slots that it replaces; others are ignored. */
  readonly slots: readonly string[]
  /** Settings of the part, such as a display name. Public, so without secrets. */
  readonly settings: Readonly<Record<string, string>>
}

/** `GET /api/models`. */
export interface ModelsAnswer {
  readonly models: readonly ModelEntry[]
  /** Default model: the first that can chat. Absent without models. */
  readonly firstModel?: string
  /** No provider is configured or was found: the built-in echo answers. */
  readonly isEchoOnly: boolean
  /** Path of providers.json, whether it exists or not; for owners only. */
  readonly file?: string
  /** Faults of a changed file that was not applied; for owners only. */
  readonly notice?: ReloadNotice
}

/** One model, under the name that clients request. */
export interface ModelEntry {
  readonly name: string
  /** The providers that serve it, in try-order. */
  readonly offers: readonly ModelOffer[]
  /** Not offered for chats: by its name a model for embeddings, images or audio, and not configured by the owner. */
  readonly isHidden?: true
}

/** A model as one provider offers it. */
export interface ModelOffer extends Pick<OfferedModel, 'upstream' | 'context' | 'maxOutput' | 'input' | 'price'> {
  readonly provider: string
}

/** A changed configuration file that was not applied. */
export interface ReloadNotice {
  readonly time: number
  /** One line for each fault: file, line, field, found value, allowed values. */
  readonly faults: readonly string[]
}

/**
 * `GET /api/usage`: use and cost by hours or days. Owners get the use of all, others their own, a key that of its line.
 */
export interface UsageAnswer {
  readonly unit: 'hour' | 'day'
  readonly by: 'model' | 'provider' | 'person' | 'team' | 'key' | 'session' | 'all'
  /** IANA name of the zone of hours and days. */
  readonly timeZone: string
  /** When sums were last written; absent: never. */
  readonly writtenAt?: number
  /** There are more than 20,000 rows: ask for a shorter time, for days, or for CSV. */
  readonly isCut?: true
  /** By time, then the dearest first. */
  readonly rows: readonly UsageEntry[]
  /** Speed of all answers by time; only for owners. */
  readonly times?: readonly ({ readonly time: string } & TimesEntry)[]
  /** Speed by model or provider over all the time; only for owners. */
  readonly groups?: readonly ({ readonly name: string } & TimesEntry)[]
  /** Failures of all by time and class; only for owners. */
  readonly failures?: readonly FailureEntry[]
}

/** Milliseconds within which 50 % and 95 % of the answers without an error came, accurate to 5 %. */
export interface TimesEntry {
  readonly answers: number
  readonly totalP50?: number
  readonly totalP95?: number
  /** Answers that were streams. */
  readonly streams: number
  readonly firstTokenP50?: number
  readonly firstTokenP95?: number
}

/** Failures of one class in an hour or a day. */
export interface FailureEntry {
  readonly time: string
  /** Code of the error of requests, or class of the failure of attempts. */
  readonly failure: string
  readonly requests: number
  readonly attempts: number
}

/** The use of one model, provider, person, team or key in an hour or a day. Costs are USD. */
export interface UsageEntry {
  /** Start of the hour (ISO 8601, UTC), or the date. */
  readonly time: string
  /** Empty: none. */
  readonly name: string
  readonly requests: number
  /** Failed requests, without those whose client left. */
  readonly errors: number
  /** Requests whose client left. */
  readonly left: number
  /** Failed attempts that cost, or may have cost, something. */
  readonly attempts: number
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** The next two are parts of it; the rest is priced by svc. */
  readonly cost: number
  /** Reported by providers. */
  readonly reportedCost: number
  /** Of estimated tokens. */
  readonly estimatedCost: number
  /** USD that caches of prompts saved, less the surcharge of writes; below 0 where more was written than read. */
  readonly saved: number
  /** Answers without a known cost. */
  readonly unpriced: number
  /** Answers and failed attempts with estimated or unknown tokens. */
  readonly estimated: number
  /** Of these, attempts that were under way when their process died. */
  readonly unsettled: number
}

/** `GET /api/providers`, and the answer to every change. */
export interface ProvidersAnswer {
  /** Version of the file's text that a change is based on. Absent without a file; nothing can be changed then. */
  readonly version?: string
  readonly source: 'file' | 'detected' | 'echo'
  /** Path of providers.json, whether it exists or not; for owners only. */
  readonly file?: string
  /** Where typed keys are written; absent: nowhere. For owners only. */
  readonly keysFile?: string
  readonly notice?: ReloadNotice
  /** The user may add and remove providers. */
  readonly mayAdd?: true
  /** In try-order. */
  readonly providers: readonly ProviderEntry[]
}

/** A setting without which a provider cannot be used, as in the configuration. */
export interface ProviderLack {
  /** As in the configuration (`Lack`). */
  readonly code: 'unset' | 'invalid' | 'no_base_url' | 'missing_file' | 'invalid_file'
  /** Names of environment variables, or the path of a file. */
  readonly variables: readonly string[]
  /** It is the provider's key. */
  readonly isKey?: true
}

/** How a provider is doing. A failure is a class (docs/failover.md), a detail text of the service or the provider. */
export type ProviderState =
  /** Available. */
  | { readonly kind: 'ok' }
  /** Skipped until then while another provider is available. `askedToWait`: it sent a Retry-After. */
  | { readonly kind: 'cooling'; readonly until: number; readonly failure?: string; readonly askedToWait?: true }
  /** Available, but its last attempts failed; `model_list`: its models could not be listed. */
  | { readonly kind: 'failing'; readonly failure: string; readonly detail?: string }
  /** Disabled. */
  | { readonly kind: 'off' }
  /** Enabled but unusable, for instance without a key. */
  | { readonly kind: 'unavailable'; readonly lacks: readonly ProviderLack[] }

/** One provider, for its owner. No key, no header. */
export interface ProviderEntry {
  readonly id: string
  readonly protocol: string
  /** Name of the brand, if known. */
  readonly brand?: string
  /** Scheme, host, port and path; for owners only. */
  readonly baseUrl?: string
  readonly enabled: boolean
  readonly state: ProviderState
  /**
   * Models that cool down while the provider as a whole does not. At most 1,000; for owners also models that it does
   * not list.
   */
  readonly coolingModels: readonly string[]
  /** At most 1,000; absent while its model list is unknown. */
  readonly models?: readonly string[]
  /** Number of models that it offers. */
  readonly modelCount?: number
  /** The lowest price of its models; absent: none is known. */
  readonly price?: Pick<Price, 'input' | 'output' | 'request'>
  /** Other models have other prices, or none. */
  readonly hasOtherPrices?: true
  /** Models that a limit of money counts although no price is known, at most 1,000; for owners only. */
  readonly unpriced?: {
    readonly models: readonly string[]
    /** By a hard limit. Otherwise other providers are asked first. */
    readonly areRefused: boolean
  }
  /** Traits that refusals of its models have taught within the last day, at most the last 20; for owners only. */
  readonly lessons?: readonly { readonly time: number; readonly model: string; readonly trait: string }[]
  /** Attempts of the last hour, at most the last 500. */
  readonly attempts: AttemptSums
  readonly lastError?: {
    readonly time: number
    readonly failure: string
    readonly detail?: string
    readonly model: string
    readonly status?: number
  }
}

/** Outcomes of the attempts at one provider. */
export interface AttemptSums {
  readonly count: number
  /** Successful attempts. */
  readonly ok: number
  /** Time to first token of streams. Absent without streams. */
  readonly firstTokenP50?: number
  readonly firstTokenP95?: number
}

/** `POST /api/providers`: one change. 409 `conflict` when the file has another version. */
export type ProviderChange = {
  /** Of the answer that the change is based on; `missing`: there is no file, and the change writes the first one. */
  readonly version: string
} & WantedProviderChange

/** A change, without the version of the file. */
export type WantedProviderChange = { readonly id: string } & (
  | { readonly change: 'enable' | 'disable' | 'up' | 'down' | 'remove' }
  /** @property to the new place in the order, from 0; beyond the end: the last */
  | { readonly change: 'move'; readonly to: number }
  /** @property to the place in the order, from 0. Default: the last */
  | { readonly change: 'add'; readonly entry: Omit<ProviderDraft, 'id'>; readonly to?: number }
  | { readonly change: 'edit'; readonly edit: ProviderEdits }
)

/** New settings of a provider. Absent ones stay. */
export interface ProviderEdits {
  /**
   * Only without a brand. What the provider is sent then may be nothing but variables that begin with `SVC_KEY_`: no
   * other key, no headers and no overrides of the file.
   */
  readonly baseUrl?: string
  /** As in {@link ProviderDraft}; `null`: no variable is named. */
  readonly keyVariable?: string | null
  /** As in {@link ProviderDraft}. */
  readonly key?: string
  /** 1 to 500 names; `null`: all that it lists. */
  readonly models?: readonly string[] | null
  /** In place of all that the file has; `{}`: the defaults. */
  readonly timeouts?: ProviderTimeouts
  /** Of its models without one of their own, in USD per million tokens. */
  readonly price?: { readonly input: number; readonly output: number }
}

/** Times of an entry that are not the defaults, in milliseconds, 1 to 86,400,000 (docs/configuration.md). */
export interface ProviderTimeouts {
  readonly connectMs?: number
  readonly firstTokenMs?: number
  readonly idleMs?: number
  readonly attemptMs?: number
}

/** `GET /api/providers/settings?id=`, for owners that may add providers. No key, no header. */
export interface ProviderSettings {
  /** Version of the file with these settings. */
  readonly version: string
  readonly id: string
  /** Id of its brand: then the address is fixed, unless the file names another one. */
  readonly brand?: string
  /** As the file has it; absent: that of the brand. */
  readonly baseUrl?: string
  readonly key:
    | { readonly kind: 'none' }
    /** The file has the key itself, which is not shown. */
    | { readonly kind: 'hidden' }
    | { readonly kind: 'variable'; readonly variable: string }
  /** Where keys are written; absent: nowhere. */
  readonly keysFile?: string
  /** Variables besides those that begin with `SVC_KEY_`. */
  readonly variables: readonly string[]
  /** Names at the provider; absent: all that it lists. */
  readonly models?: readonly string[]
  /** The file has facts of models, such as prices, that are lost with its list. */
  readonly hasModelFacts?: true
  /** As the file has them. */
  readonly timeouts: ProviderTimeouts
  readonly defaultTimeouts: Required<ProviderTimeouts>
}

/** A provider to be added: of a brand, or a server that speaks a known protocol. */
export interface ProviderDraft {
  readonly id: string
  /** Of the catalogue. */
  readonly brand?: string
  /** Only without a brand. */
  readonly baseUrl?: string
  /** Only without a brand. Default `openai`. */
  readonly protocol?: 'openai' | 'anthropic' | 'gemini'
  /**
   * Environment variable of its key: one of its brand, or one that begins with `SVC_KEY_`. Absent: the one of the brand
   * that is set.
   */
  readonly keyVariable?: string
  /**
   * The key itself, for keys.env; no answer has it. Only over https, or from the service's own machine. Its name there
   * is `keyVariable`, else the variable of the brand, or `SVC_KEY_ID` if the process has that one.
   */
  readonly key?: string
  /** 1 to 500 names. Absent: all that it lists. */
  readonly models?: readonly string[]
  readonly timeouts?: ProviderTimeouts
}

/** `GET /api/providers/brands`, for owners that may add providers. */
export interface BrandsAnswer {
  readonly brands: readonly BrandEntry[]
  /** Where keys are written; absent: nowhere. */
  readonly keysFile?: string
  readonly defaultTimeouts: Required<ProviderTimeouts>
}

/** A known brand. */
export interface BrandEntry {
  readonly id: string
  readonly name: string
  readonly baseUrl: string
  readonly protocol: string
  /** Environment variables for its key; none: it needs no key. */
  readonly keys: readonly { readonly variable: string; readonly isSet: boolean }[]
  /** Daily requests without a payment method. */
  readonly isFree?: true
  /** Web page that lists its models. */
  readonly modelsPage?: string
}

/**
 * `POST /api/providers/look`: asks a provider that is not in the file, or one that is with other settings, for its
 * models. Nothing is written. Answer: {@link ProviderLook}.
 */
export type ProviderLookRequest = { readonly id: string } & (
  | { readonly entry: Omit<ProviderDraft, 'id'> }
  | { readonly edit: ProviderEdits }
)

/** The models of a provider, as it would be. */
export interface ProviderLook {
  readonly ms: number
  /** At most 1,000. Absent: there was no list. */
  readonly models?: readonly string[]
  readonly modelCount?: number
  /** Models whose price is known, or reported by the provider. */
  readonly pricedCount?: number
  /** Settings that are missing: nothing was asked. */
  readonly lacks?: readonly ProviderLack[]
  /** Why there is no list. Absent: no answer within the time. */
  readonly detail?: string
  /** HTTP status of the question for the list, if it failed. */
  readonly status?: number
}

/** `POST /api/providers/test`: requests one token from one provider. Answer: {@link ProviderTest}. */
export interface ProviderTestRequest {
  readonly id: string
  /** Default: the first that the provider offers. */
  readonly model?: string
}

/** Outcome of a test. */
export interface ProviderTest {
  readonly ok: boolean
  readonly ms: number
  readonly model?: string
  readonly status?: number
  /** Class of the failure, or `internal_error`; absent with `lacks`. */
  readonly failure?: string
  readonly detail?: string
  /** Settings that are missing: nothing was asked. */
  readonly lacks?: readonly ProviderLack[]
}

/** `GET /api/log`: requests of the ledger, the newest first. Owners get those of all, others their own. */
export interface LogAnswer {
  readonly requests: readonly RequestEntry[]
  /**
   * `before` of the next question; absent: there are no older ones. A page with few requests or none may have one: rare
   * requests are searched for a limited time.
   */
  readonly next?: string
  /** All requests that arrived later were looked at; absent: all were. */
  readonly searchedTo?: number
}

/** `GET /api/log/choices`: values of filters, at most 1,000 of each; for others than owners, those of their own use. */
export interface LogChoices {
  readonly models: readonly string[]
  readonly providers: readonly string[]
  readonly errors: readonly string[]
  readonly apis: readonly string[]
  readonly people: readonly string[]
  readonly keys: readonly string[]
  /** Arrival of the oldest stored request of all. */
  readonly oldest?: number
}

/**
 * `GET /api/running`: the requests under way, or with `?id=` those of an id. Owners get those of all users, others
 * their own.
 */
export interface RunningAnswer {
  readonly count: number
  /** At most 200, the oldest first. */
  readonly requests: readonly RunningEntry[]
}

/** A request under way. */
export interface RunningEntry {
  readonly time: number
  readonly id: string
  readonly user?: string | undefined
  readonly api: string
  /** Empty while its body is being read. */
  readonly model: string
  readonly stream: boolean
  /** The first token was sent after this time. */
  readonly firstTokenMs?: number | undefined
  /** The attempts so far, as those of an ended request: at most 32. */
  readonly trail: readonly TrailEntry[]
  /** The provider that is asked now. Absent: a provider answers, or none was asked yet. */
  readonly asking?: AskedProvider | undefined
}

/**
 * `GET /api/requests`: the recent requests as JSON, or with `Accept: text/event-stream` as a stream of events: the
 * first has all, the following only changes. Owners get the requests of all users, others their own.
 */
export interface RequestsAnswer {
  /** Oldest first, at most 1,000. */
  readonly requests: readonly RequestEntry[]
  /** Oldest first, at most 60, without empty minutes. In a stream: changed minutes only. */
  readonly minutes: readonly MinuteSums[]
}

/** `GET /api/presets`. */
export interface PresetsAnswer {
  /** In the order of the file, at most 200. */
  readonly presets: readonly PresetEntry[]
  /** Path of presets.json, whether it exists or not; for owners only. */
  readonly file?: string
  /** Version of the file's text that a change is based on; for owners only. Absent: nothing can be changed. */
  readonly version?: string
  /** Why the file is not in use; for owners only. */
  readonly fault?: string
}

/** A preset for all users. Absent members leave those of a conversation as they are. */
export interface PresetEntry {
  readonly name: string
  readonly description?: string
  readonly model?: string
  /** System prompt. */
  readonly system?: string
  /** Text for the message field. */
  readonly prompt?: string
  /** Fields of a request. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** `POST /api/presets`: writes or removes one preset. 409 `conflict` when the file has another version. */
export interface PresetChange {
  readonly version: string
  readonly name: string
  /** Its name until now; absent: it is new, or `preset` is `null`. */
  readonly before?: string
  /** Without its name; `null` removes it. Not checked yet. */
  readonly preset: Readonly<Record<string, unknown>> | null
}

/** `GET /api/limits`, for owners: what access.json says, and how much of it is used. */
export interface LimitsAnswer {
  /** Path of access.json, whether it exists or not; absent: the service has no folder for it. */
  readonly file?: string
  /** A changed file that was not applied: the previous limits stay active. */
  readonly fault?: { readonly time: number; readonly reason: string }
  /** The zone in which days, weeks, months and years begin. */
  readonly timeZone: string
  /** In the order of the file. */
  readonly limits: readonly LimitRowEntry[]
  readonly teams: readonly {
    readonly name: string
    readonly leads: readonly string[]
    readonly members: readonly string[]
  }[]
  /** The user may edit the file on the page. */
  readonly mayEdit?: true
  /** Single callers and providers that a limit may name: at most 500. */
  readonly named: readonly NamedSubject[]
}

/** A caller or a provider that a limit may name. */
export interface NamedSubject {
  /** As in access.json, such as `key:3`. */
  readonly for: string
  /** Such as the name of the key. */
  readonly name: string
}

/** `POST /api/limits/draft`: access.json with one limit added, changed or removed. Nothing is written. */
export interface LimitDraftChange {
  /** 409 `conflict` when the file has another version. Absent: any. */
  readonly version?: string
  /** Index in `limits`. Absent: the limit is added. */
  readonly place?: number
  /** The whole entry; `null` removes it. Absent: it stays as it is. */
  readonly limit?: Readonly<Record<string, unknown>> | null
}

export interface LimitDraftAnswer {
  /** The file as it is. */
  readonly base: AccessFileAnswer
  /** The entry as it is in the file. Absent: it is a new one. */
  readonly entry?: Readonly<Record<string, unknown>>
  /** The file as it would be, for `POST /api/limits/file` with the version of `base`. */
  readonly text: string
  readonly faults: readonly AccessFileFault[]
  /** The effect of the limit now. Absent: it is removed, or the text has faults. */
  readonly effect?: LimitEffectEntry
}

export interface LimitEffectEntry {
  /** Callers of late that it names. */
  readonly counted: number
  /** At most 50 that have spent its amount of money, in USD. Absent: not of money, or no use is stored. */
  readonly above?: readonly { readonly name: string; readonly used: number }[]
  /** Places of the other limits that count for the same callers. */
  readonly besides: readonly string[]
  /** Providers with models that it counts although no price is known. `areRefused`: they are never asked for them. */
  readonly unpriced: readonly {
    readonly provider: string
    readonly models: readonly string[]
    readonly areRefused: boolean
  }[]
}

/** `GET /api/people`, for owners: the people who are signed in, and those who were refused. */
export interface PeopleAnswer {
  /** Name of the identity provider. */
  readonly provider: string
  /** Those with sessions, the last sign-in first. */
  readonly people: readonly SignedInEntry[]
  /** At most 100, the last one first. */
  readonly refused: readonly RefusedEntry[]
  /** There is a list of those who may sign in. */
  readonly hasList: boolean
}

export interface SignedInEntry {
  /** At the identity provider. */
  readonly userId: string
  readonly userName: string
  readonly displayName: string
  /** An https URL, or empty. */
  readonly avatarUrl: string
  readonly isOwner: boolean
  readonly teams: readonly string[]
  readonly sessions: readonly SessionEntry[]
}

export interface SessionEntry {
  /** For `POST /api/people/end`. */
  readonly id: string
  /** Such as `Firefox` and `Linux`. Absent: unknown. */
  readonly browser?: string
  readonly system?: string
  /** The name of an agent, as it calls itself. Absent: the session is of a browser. */
  readonly agent?: string
  /** Unix milliseconds. */
  readonly since: number
  /** Unix milliseconds, some minutes exact. Absent: not since the sign-in. */
  readonly used?: number
  /** The page that asks is of this session. */
  readonly isCurrent: boolean
}

export interface RefusedEntry {
  readonly user: string
  readonly userId: string
  readonly tries: number
  /** Unix milliseconds. */
  readonly last: number
}

/** What people may choose to sign in with, for an owner who sets sign-in up. */
export interface SignInAnswer {
  /** Path of the file that is written, beside providers.json. */
  readonly file: string
  /** The most usual one first. */
  readonly providers: readonly SignInProviderEntry[]
  /** Path of the redirect URI, behind the origin of the page. */
  readonly callbackPath: string
  /** Keys for programs can be switched on, too. */
  readonly mayAddKeys: boolean
  /** svc runs with `--auth none`: a set-up is written, and holds from the next start without the flag on. */
  readonly isOffByFlag?: true
}

export interface SignInProviderEntry {
  readonly id: string
  readonly name: string
  /** What else says where people sign in. */
  readonly place?: { readonly kind: 'server' | 'issuer' | 'directory'; readonly isRequired: boolean }
  /** The page on which a client is registered. */
  readonly registerUrl?: string
}

/** `POST /api/sign-in`, and its `draft` without secret and version. */
export interface SignInChange {
  /** Id of a {@link SignInProviderEntry}. */
  readonly provider: string
  readonly place?: string
  readonly clientId: string
  readonly clientSecret?: string
  /** The owner's name at the identity provider. */
  readonly user: string
  /** Further people who may sign in. */
  readonly others: readonly string[]
  readonly hasKeys: boolean
  /** Origin of the page, to which people come back. */
  readonly origin: string
  /** Of the draft that was shown. */
  readonly version?: string
}

/** The members of both files that a set-up would write. The secret is hidden. */
export interface SignInDraftAnswer {
  readonly version: string
  readonly files: readonly { readonly file: string; readonly before: string; readonly after: string }[]
  readonly faults: readonly string[]
}

/** `POST /api/people/admission`: lets a user in, or no more. */
export interface AdmissionChange {
  readonly user: string
  readonly userId: string
  readonly mayEnter: boolean
  /** Saves the change of the file with this fingerprint; 409 `conflict` for another. Absent: nothing is written. */
  readonly version?: string
}

export interface AdmissionAnswer {
  /** Path of the file. */
  readonly file: string
  readonly version: string
  /** Line of the changed member, from 1. */
  readonly line: number
  /** The member as it is and as it would be. Nothing else of the file is shown: it may hold a secret. */
  readonly before: string
  readonly after: string
}

/** `GET` and `POST /api/limits/file`, for owners: access.json as it is. */
export interface AccessFileAnswer {
  /** Its path. */
  readonly file: string
  /** Its fingerprint; `missing` without a file. */
  readonly version: string
  /** Absent: there is no file. */
  readonly text?: string
}

/** `POST /api/limits/file`: replaces access.json. 409 `conflict` when the file has another version. */
export interface AccessFileChange {
  readonly version: string
  readonly text: string
}

/** `POST /api/limits/check`: the faults of a text, as a reload finds them. Nothing is written. */
export interface AccessCheckAnswer {
  readonly faults: readonly AccessFileFault[]
}

/** One fault of a text. */
export interface AccessFileFault {
  /** From 1. Absent: of the whole text. */
  readonly line?: number
  readonly column?: number
  /** Such as `limits[0].usd: found "5", allowed: a number from 0 to 1000000`. */
  readonly message: string
}

/** One amount of one limit. */
export interface LimitRowEntry {
  /** Place in the file, such as `limits[0]`. */
  readonly place: string
  /** As in access.json, such as `each person`. */
  readonly for: string
  readonly kind: 'requests' | 'tokens' | 'at_once' | 'usd'
  readonly limit: number
  /** Absent: of `at_once`. */
  readonly per?: string
  /** Absent: all. */
  readonly models?: readonly string[]
  /** End of the window of a budget; absent: it has none. */
  readonly windowEnds?: number
  /** Each caller is counted apart. */
  readonly isApart: boolean
  /** Of callers that are counted apart, at most 200 that asked since the service started; the least left first. */
  readonly uses: readonly LimitUseEntry[]
}

/** What one caller, or all together, have used of a limit. */
export interface LimitUseEntry {
  /** Empty: all together. */
  readonly name: string
  readonly used: number
  /** Held by requests under way; only of `usd`. */
  readonly held?: number
  readonly remaining: number
  /** All of it is back then, if no request follows; only of `requests` and `tokens` in use. */
  readonly backAt?: number
}

/** `GET /api/audit`, for owners: changes of keys, the newest first. */
export interface AuditAnswer {
  readonly entries: readonly AuditLine[]
  /** There are older ones: ask with `before` of the last. */
  readonly hasMore: boolean
}

/** One recorded change. */
export interface AuditLine {
  readonly seq: number
  readonly time: number
  /** Absent: forgotten. */
  readonly actor?: string
  readonly via: string
  readonly action: string
  /** Id of the key, or the name of another object. */
  readonly object: string
  /** Name of the key; absent for other objects, and for a key that is gone. */
  readonly keyName?: string
  /** JSON. */
  readonly before?: string
  /** JSON. */
  readonly after?: string
  readonly chain: string
}

/** `GET /api/audit/verify`, for owners. */
export interface AuditReport {
  /** Entries that were read. */
  readonly entries: number
  readonly newest?: { readonly seq: number; readonly chain: string }
  /** At most 101 lines. */
  readonly faults: readonly string[]
}

/** A key of a list. */
export interface KeyEntry extends KeyView {
  /** Content of its requests is kept. Only in the list of one's own keys. */
  readonly content?: { readonly kept_seconds: number }
}

/** A key that was just made. */
export interface MadeKeyEntry extends KeyEntry {
  readonly key: string
}

/** `POST /api/program-keys`: a key of a program with its limit, or neither. The answer is a {@link MadeKeyEntry}. */
export interface ProgramKeyChange {
  /** As for `POST /v1/keys`. */
  readonly key: Readonly<Record<string, unknown>>
  /** An entry of `limits` in access.json without `for`, which is the key. Absent: it has none. */
  readonly limit?: Readonly<Record<string, unknown>>
}

/** `GET /api/keys`: one's own keys, or those of a team, the newest first, and the ceilings. */
export interface OwnKeysAnswer {
  readonly data: readonly KeyEntry[]
  readonly most: number
  readonly days_most: number
}

/** `GET /v1/keys`, for owners: keys of all, the oldest first. */
export interface KeysAnswer {
  readonly data: readonly KeyEntry[]
  readonly has_more: boolean
}

/** A limit that names the caller, and its remaining amount. */
export interface LimitEntry {
  /** As in access.json, such as `each person`. */
  readonly for: string
  /** `requests`, `tokens`, `at_once` or `usd`. */
  readonly kind: string
  /** `null`: a budget that others share. */
  readonly limit: number | null
  readonly per: string | null
  readonly models: readonly string[] | null
  readonly remaining: number | null
}

/** `GET /v1/key`: the caller to itself. */
export interface OwnLimitsAnswer {
  readonly limits: readonly LimitEntry[]
  /** `null`: content of the caller's requests is not kept. */
  readonly content: { readonly kept_seconds: number } | null
}

/** `GET /api/requests/{id}/content`. */
export interface ContentAnswer {
  /** Of the arrival of the request, Unix milliseconds. */
  readonly time: number
  /** When the content is deleted, Unix milliseconds. */
  readonly expires: number
  readonly question: string
  /** Empty: there was none. */
  readonly answer: string
  /** There was more. */
  readonly isQuestionCut?: true
  readonly isAnswerCut?: true
}

import type { AccessScope } from '../formats/access.ts'
import type { Caller, Person, Profile } from '../people/person.ts'
import type { Limit, LimitOptions, Store, StoreOptions } from '../stores/store.ts'

/*
 * A feature behind one interface. `load.ts` finds a folder by its name; `app/extensions/` starts it with a `Host`, its
 * only way to files, network, stores and clocks, and calls `start` again for each change of its file. The result is a
 * `Contribution`: routes, a guard, a recogniser, parts of the page. It replaces the one before in one step, so an
 * extension has no code for reloading. An extension throws `WireError`, knows no server and no other extension, and
 * deleting its folder deletes the feature. `provider_auth/` is sign-in.
 */

/** The service as an extension sees it; its only access to files, network, stores and clocks. */
export interface Host {
  /**
   * Reads the extension's configuration file, `users/default/NAME/config.json` in the home folder; `undefined` if the
   * file does not exist.
   *
   * @throws if the file cannot be read or is not a JSON object; `start` should not catch this
   */
  config(): Promise<ExtensionConfig | undefined>
  /**
   * Opens a store. Names are private to the extension; a name opens the same store again after the extension has
   * restarted.
   */
  store<Value>(name: string, options: StoreOptions<Value>): Store<Value>
  /** The same, with values that outlive the service, if it has a database. */
  lastingStore<Value>(name: string, options: StoreOptions<Value>): Store<Value>
  /**
   * Opens a rate limit. Names are private to the extension; a name continues the same counts after the extension has
   * restarted.
   */
  limit(name: string, options: LimitOptions): Limit
  /** Sends one HTTP request. Does not follow redirects. */
  fetch(url: string, options: FetchOptions): Promise<Response>
  /** The wall clock, in Unix milliseconds. */
  now(): number
  /** A monotonic clock, in milliseconds; only differences have a meaning. */
  elapsedMs(): number
  readonly log: ExtensionLog
}

/** Content of a configuration file, with `$NAME` values resolved. */
export interface ExtensionConfig {
  /** Members of the file, without those whose value is `$NAME` of a variable that is unset or empty. */
  readonly values: Readonly<Record<string, unknown>>
  /** The members left out for that reason: member → variable. */
  readonly unset: ReadonlyMap<string, string>
}

/** The configuration file is invalid: the service does not start, or keeps the previous configuration. */
export class ExtensionConfigError extends Error {
  override readonly name = 'ExtensionConfigError'
  /** Name of the member, or a path such as `user_fields.id`. */
  readonly field: string
  /** The value, or only its type if it may be a secret: `a number`. */
  readonly found: string
  /** Description of the allowed values. */
  readonly allowed: string

  constructor(field: string, found: string, allowed: string) {
    super(`${field}: found ${found}, allowed: ${allowed}`)
    this.field = field
    this.found = found
    this.allowed = allowed
  }
}

/** Request and limits of {@link Host.fetch}. */
export interface FetchOptions {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Until the last byte of the response; then the call rejects with a `TimeoutError`. */
  readonly timeoutMs: number
  /** Limit of the response body; a larger one makes the call reject. */
  readonly bytesMax: number
}

/** Writes to the service's log. Values are escaped and shortened; the extension must not log secrets. */
export type ExtensionLog = Readonly<
  Record<
    'debug' | 'info' | 'warn' | 'error',
    (message: string, fields?: Readonly<Record<string, string | number | boolean | Error | undefined>>) => void
  >
>

/** A request, with the facts that guards and routes decide by. */
export interface RequestContext {
  readonly request: Request
  /** Normalised path without query. Decisions must use this path, not the request's URL. */
  readonly path: string
  /** Peer address of the connection; forwarding headers do not change it. */
  readonly address: string
  /** The request id (`x-request-id`), which error pages show and log lines carry. */
  readonly id: string
}

/** A request for one of the extension's routes. */
export interface RouteContext extends RequestContext {
  /** The sender, as the guards have found it. Without a name for public routes, and if no guard named a user. */
  readonly caller: Caller
  /** Reads the body. @throws {WireError} if it is larger than `bytesMax`, too slow or cut off */
  body(bytesMax: number): Promise<Uint8Array>
}

/** The user that a guard has identified as the sender of a request. */
export interface Visitor {
  /** User name, for the log and for `owners`. */
  readonly user: string
  /** Id that stays the same when the user is renamed; compared with `id:VALUE` in `owners`. */
  readonly userId?: string
  /**
   * Short, permanent and unique over all identity providers: whose use, log and content it is. Default: that of
   * `profile`, else `userId`.
   */
  readonly subject?: string
  /** Whether user names are compared without regard to the case of ASCII letters. Default `false`. */
  readonly hasCaselessName?: boolean
  /** User data for the page. Default: the page shows `user`. */
  readonly profile?: Profile
}

/**
 * The slots of the page that an extension replaces, and settings for its page module. The module is `page-part.tsx` in
 * the extension's folder; its export `part` is a `PagePart` of web/slots.ts.
 */
export interface PartClaim {
  /** Slots to replace. Others in the module are ignored; two extensions cannot claim the same slot. */
  readonly slots: readonly string[]
  /** Passed to the module, such as a name to show. Public: readable without signing in. */
  readonly settings: Readonly<Record<string, string>>
}

/** A route of an extension. GET routes also receive HEAD requests. */
export interface ExtensionRoute {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /**
   * Exact path, beginning with `/`. A path that ends in `/` matches every path below it, and one place such as `{id}`
   * any text.
   */
  readonly path: string
  /** Whether the route bypasses the guards. Default `false`. */
  readonly isPublic?: boolean
  /** Whether the route is for owners only (docs/configuration.md); other users get 403. Excludes `isPublic`. */
  readonly isForOwners?: boolean
  /** The scope with which a key admits to the route, also if it is for owners. Absent: no key does. */
  readonly scope?: AccessScope
  /**
   * @throws {WireError} to answer with an error: a page for browser navigations, JSON otherwise
   * @throws {NoAnswer} to close the connection without an answer
   */
  handle(context: RouteContext): Promise<Response>
}

/** A session of a person who has signed in, for owners. It has no credential. */
export interface ListedSession {
  /** Names the session to {@link SignedInPeople.end}. */
  readonly id: string
  readonly visitor: Visitor
  /** The browser and the system of the sign-in, such as `Firefox` and `Linux`. Absent: unknown. */
  readonly browser?: string
  readonly system?: string
  /** The name of an agent, if the session is one of an agent. */
  readonly agent?: string
  /** Unix milliseconds. */
  readonly since: number
  /** Unix milliseconds of its last use, some minutes exact. Absent: not since the sign-in. */
  readonly used?: number
  /** The request that asks is of this session. */
  readonly isCurrent: boolean
}

/** A user who was not let in. */
export interface RefusedUser {
  readonly user: string
  readonly userId: string
  readonly tries: number
  /** Unix milliseconds of the last one. */
  readonly last: number
}

/** The people who have signed in, for owners. Its methods throw `WireError`, 503 while the store is unavailable. */
export interface SignedInPeople {
  /** Name of the identity provider. */
  readonly provider: string
  /** At most 1,000, newest first. */
  sessions(request: Request): Promise<readonly ListedSession[]>
  /** Ends the session with this id, if it is there. */
  end(id: string): Promise<Pick<ListedSession, 'visitor'> | undefined>
  /** Ends all sessions of a user name or `id:VALUE`; returns their number. */
  endAll(user: string): Promise<number>
  /** At most 100, the last one first. */
  refused(): Promise<readonly RefusedUser[]>
  readonly admission: Admission
}

/** The list in the extension's file of those who may sign in. */
export interface Admission {
  /** Name of the member. */
  readonly member: string
  /** There is a list; without one, anyone with an account at the identity provider may sign in. */
  readonly isOn: boolean
  allows(user: Pick<RefusedUser, 'user' | 'userId'>): boolean
  /**
   * The member's value with a user, or without.
   *
   * @param value as it is in the file
   * @returns `undefined`: the value cannot be changed, since a variable has it, or it is no list
   */
  change(value: unknown, user: Pick<RefusedUser, 'user' | 'userId'>, mayEnter: boolean): unknown
}

/** The parts that an extension adds to the service while it is on. */
export interface Contribution {
  readonly routes?: readonly ExtensionRoute[]
  /**
   * Recognises the sender of a request for a path that is not public by a credential of this extension. Asked of all
   * extensions before any guard; a recognised caller skips all guards. `undefined`: the request has no credential of
   * this extension, and the guards decide. Without any guard it is refused.
   *
   * @throws {WireError} for a credential of this extension that is not valid
   */
  recognise?(context: RequestContext): Caller | undefined | Promise<Caller | undefined>
  /**
   * Admits or refuses each request for a path that is not public, including paths without a route. Resolves to admit
   * the request.
   *
   * @throws {WireError} to refuse it
   */
  guard?(context: RequestContext): Promise<Visitor | undefined>
  /**
   * Whether a person whom the guard of this extension has let pass before may enter now. Asked for each use of a key
   * that the person made, so it reads memory only.
   */
  mayEnter?(person: Person): boolean
  /** Called for each person that the guards let pass. The request waits for it. It does not reject. */
  onEntry?(person: Person): void | Promise<void>
  /**
   * Asks the identity provider whether people can sign in with these settings, as far as that shows before they do.
   *
   * @throws {WireError} 400 in words for the owner
   */
  probe?(): Promise<void>
  readonly part?: PartClaim
  readonly people?: SignedInPeople
  /** URL that identifies the identity provider of its people. They have ids by `personIdAt`. */
  readonly identityProvider?: string
  /** Origin of the service's own page, such as `https://svc.example.org`. If set, other origins cannot call the API. */
  readonly origin?: string
  close?(): Promise<void>
}

/** An identity provider that owners may choose on the page. */
export interface SetUpProvider {
  readonly id: string
  readonly name: string
  /** What else says where people sign in: a server, an issuer or a directory (tenant). Absent: nothing. */
  readonly place?: { readonly kind: 'server' | 'issuer' | 'directory'; readonly isRequired: boolean }
  /** The page on which a client is registered. Absent: it is at the server. */
  readonly registerUrl?: string
}

/** What owners say on the page to have people sign in. */
export interface SignInSetUp {
  /** The id of a {@link SetUpProvider}. */
  readonly provider: string
  readonly place?: string
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
  /** Those who may sign in. */
  readonly users: readonly string[]
}

/** How owners set an extension for sign-in up on the page. */
export interface SetUp {
  /** The most usual one first. */
  readonly providers: readonly SetUpProvider[]
  /** Name of the member that holds the client secret. */
  readonly secretMember: string
  /** Path of the redirect URI. */
  readonly callbackPath: string
  /** The members of the file that a set-up decides; `undefined`: the member is left out. They are not checked. */
  members(given: SignInSetUp): Readonly<Record<string, unknown>>
}

/** An optional part of the service, switched on by name (`--auth`, `SVC_AUTH`, `auth` in providers.json). */
export interface Extension<Added extends Contribution = Contribution> {
  readonly name: string
  /** Absent: it is set up in its file alone. */
  readonly setUp?: SetUp
  /**
   * Starts the extension. Called again for each change of the configuration file; the new contribution replaces the
   * previous one, which is closed. Stores are kept. `undefined` means that the configuration switches the extension
   * off, which the service logs.
   *
   * @throws {ExtensionConfigError} if the configuration is invalid: the service then does not start, or keeps the
   *   previous contribution
   */
  start(host: Host): Promise<Added | undefined>
}

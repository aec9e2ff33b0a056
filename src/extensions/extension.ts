import type { Limit, LimitOptions, Store, StoreOptions } from '../stores/store.ts'

/** What an extension is given. It reaches the service through this and no other way. */
export interface Host {
  /**
   * The extension's configuration file, `users/default/NAME/config.json` in the home folder; `undefined` when there is
   * none.
   *
   * @throws when it cannot be read, or is no JSON object: `start` lets that pass
   */
  config(): Promise<ExtensionConfig | undefined>
  /**
   * A store of its own, apart from those of other extensions. The same name gives the same store, also after a restart
   * of the extension.
   */
  store<Value>(name: string, options: StoreOptions<Value>): Store<Value>
  /**
   * A limit of its own, apart from those of other extensions. What was counted for a name counts on, also after a
   * restart of the extension.
   */
  limit(name: string, options: LimitOptions): Limit
  /** One exchange with a server that the configuration names. No redirect is followed. */
  fetch(url: string, options: FetchOptions): Promise<Response>
  /** The wall clock, in Unix milliseconds. */
  now(): number
  /** A clock that nobody sets: milliseconds since a moment that says nothing. */
  elapsedMs(): number
  readonly log: ExtensionLog
}

/** A configuration file that has been read, with its `$NAME` values resolved. */
export interface ExtensionConfig {
  /** Members of the file. One whose value is `$NAME` of a variable that is not set, or empty, is absent. */
  readonly values: Readonly<Record<string, unknown>>
  /** The members that are absent for that reason: member → variable. */
  readonly unset: ReadonlyMap<string, string>
}

/**
 * Something in the configuration file is not as it must be: the service does not start, or keeps the configuration it
 * has.
 */
export class ExtensionConfigFault extends Error {
  override readonly name = 'ExtensionConfigFault'
  /** The member, or a path into it, as in `user_fields.id`. */
  readonly field: string
  /** What stands there, without its value if that may be a secret: `a number`. */
  readonly found: string
  /** What may stand there. */
  readonly allowed: string

  constructor(field: string, found: string, allowed: string) {
    super(`${field}: found ${found}, allowed: ${allowed}`)
    this.field = field
    this.found = found
    this.allowed = allowed
  }
}

/** How {@link Host.fetch} asks. */
export interface FetchOptions {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** From the call to the last byte of the answer. Beyond, it rejects with a `TimeoutError`. */
  readonly timeoutMs: number
  /** Of the answer's body. Beyond, it rejects. */
  readonly bytesMax: number
}

/** Lines in the service's log. Values are escaped and shortened; it is for the caller to put no secret there. */
export type ExtensionLog = Readonly<
  Record<
    'debug' | 'info' | 'warn' | 'error',
    (message: string, fields?: Readonly<Record<string, string | number | boolean | Error | undefined>>) => void
  >
>

/** A request, as an extension sees it. */
export interface Visit {
  readonly request: Request
  /** Normalised, without query. Decisions compare this and nothing else. */
  readonly path: string
  /** The address the connection comes from. What headers claim is not in it. */
  readonly address: string
  /** `x-request-id`: what a person is shown beside an error, so that it can be found in the log. */
  readonly id: string
}

/** Who a request comes from. */
export interface Visitor {
  /** Name for logs, and the one that `owners` names somebody by. */
  readonly user: string
  /** What the page shows people of themselves. Absent: it shows `user`. */
  readonly profile?: Profile
}

/** Somebody, for their own eyes. */
export interface Profile {
  /**
   * Short. Tells people apart for ever, also those of different identity providers: what a browser keeps for somebody,
   * it keeps under this.
   */
  readonly id: string
  readonly userName: string
  readonly displayName: string
  /** Empty when not known. */
  readonly email: string
  /** An https address; empty when not known. */
  readonly avatarUrl: string
}

/**
 * What an extension brings to the page. The module is `page-part.tsx` in its folder, whose export `part` is a
 * `PagePart` of web/slots.ts.
 */
export interface PartClaim {
  /** The slots it takes over: no others are taken from its module, and no two extensions may take the same. */
  readonly slots: readonly string[]
  /** What its module is to know, such as a name to show. Everybody may read it, signed in or not. */
  readonly settings: Readonly<Record<string, string>>
}

/** One path an extension answers. HEAD arrives where GET does. */
export interface ExtensionRoute {
  readonly method: 'GET' | 'POST'
  /** Exact path, beginning with `/`; one that ends in `/` stands for everything below it. */
  readonly path: string
  /** Reached without passing the guards. Default deny: `false` unless said otherwise. */
  readonly isPublic?: boolean
  /** @throws {WireError} for an answer that is an error: as JSON, or as a page where a browser navigates */
  handle(visit: Visit): Promise<Response>
}

/** What an extension adds while it is on. */
export interface Contribution {
  readonly routes?: readonly ExtensionRoute[]
  /**
   * Says who may pass, for every path that is not public, be there a route or not. Resolves when the request may pass.
   *
   * @throws {WireError} when it may not
   */
  guard?(visit: Visit): Promise<Visitor | undefined>
  /** What it brings to the page. */
  readonly part?: PartClaim
  /**
   * Where this service's own pages are from, as in `https://svc.example.org`. When given, pages from elsewhere may not
   * call the API.
   */
  readonly origin?: string
  close?(): Promise<void>
}

/** A part of the service that is switched on by name (`SVC_AUTH`, `--auth`). */
export interface Extension {
  readonly name: string
  /**
   * Called at the start and again for each change of the configuration file; what it returned before is then closed and
   * forgotten, stores are kept. `undefined`: the extension finds itself switched off; its host says so in the log.
   *
   * @throws {ExtensionConfigFault} when it is configured wrongly: the service then does not start, or keeps what it had
   */
  start(host: Host): Promise<Contribution | undefined>
}

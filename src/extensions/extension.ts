import type { Store } from '../stores/store.ts'

/** What an extension is given. It reaches the service through this and no other way. */
export interface Host {
  /** The extension's parsed configuration file, or `undefined` when there is none. @throws when it cannot be read */
  config(): Promise<unknown>
  /** A store of its own, apart from those of other extensions. */
  store<Value>(name: string): Store<Value>
  readonly fetch: typeof fetch
}

/** One path an extension answers. */
export interface ExtensionRoute {
  readonly method: 'GET' | 'POST'
  /** Exact path, beginning with `/`. */
  readonly path: string
  /** Reached without passing the guards. Default deny: `false` unless said otherwise. */
  readonly isPublic?: boolean
  handle(request: Request): Promise<Response>
}

/** What an extension adds while it is enabled. */
export interface Contribution {
  readonly routes?: readonly ExtensionRoute[]
  /** Answers instead of the service when a request may not pass; `undefined` lets it pass. Asked for every path that is not public. */
  guard?(request: Request): Promise<Response | undefined>
  /** The page part's script, by name. */
  readonly page?: string
  close?(): Promise<void>
}

/** A part of the service that is switched on by name (`SVC_AUTH`, `--auth`). */
export interface Extension {
  readonly name: string
  /** `undefined`: the extension finds itself switched off. @throws when it is configured wrongly: the service then does not start */
  start(host: Host): Promise<Contribution | undefined>
}

import type { Limit, LimitOptions, Store } from '../../stores/store.ts'
import { StoreUnavailable } from '../../stores/store.ts'
import type { Contribution, ExtensionConfig, ExtensionLog, Host, Visit } from '../extension.ts'
import type { CallbackParameters, FlowSecrets, Identity, IdentityProvider } from './identity-provider.ts'
import { parseAllowList } from './restrict-to.ts'
import type { Settings } from './settings.ts'
import { signIn } from './sign-in.ts'

/** A clock that tests set, in Unix milliseconds. It has a fraction of a second. */
export interface FakeClock {
  ms: number
  /** Of the clock that nobody sets. */
  elapsedMs: number
}

/** A store that forgets nothing by itself, so that whoever uses it has to look at ages. */
export interface FakeStore<Value> extends Store<Value> {
  readonly entries: Map<string, { readonly value: Value; readonly owner: string }>
  /** How often it was asked for anything. */
  calls: number
  isAway: boolean
}

/** An empty {@link FakeStore}. */
export function fakeStore<Value>(): FakeStore<Value> {
  const entries: FakeStore<Value>['entries'] = new Map()
  async function asked(): Promise<void> {
    store.calls++
    if (store.isAway) throw new StoreUnavailable('away')
  }
  const store: FakeStore<Value> = {
    entries,
    calls: 0,
    isAway: false,
    async get(key) {
      await asked()
      return entries.get(key)?.value
    },
    async set(key, value, owner) {
      await asked()
      entries.set(key, { value, owner })
    },
    async take(key) {
      await asked()
      const entry = entries.get(key)
      entries.delete(key)
      return entry?.value
    },
    async delete(key) {
      await asked()
      entries.delete(key)
    },
  }
  return store
}

/** A line of the log: level, message and fields. */
export type LogLine = readonly [level: string, message: string, fields?: unknown]

/** A log that is kept. */
export function fakeLog(): { readonly log: ExtensionLog; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at =
    (level: string): ExtensionLog['info'] =>
    (message, fields) => {
      lines.push(fields === undefined ? [level, message] : [level, message, fields])
    }
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

/** A limit that remembers everybody. */
function fakeLimit({ perMinute }: LimitOptions, clock: FakeClock): Limit {
  const saved = new Map<string, { readonly count: number; readonly at: number }>()
  return {
    async take(client) {
      if (perMinute === 0) return undefined
      const { count, at } = saved.get(client) ?? { count: perMinute, at: clock.ms }
      const grown = Math.min(perMinute, count + ((clock.ms - at) * perMinute) / 60_000)
      saved.set(client, { count: grown < 1 ? grown : grown - 1, at: clock.ms })
      return grown < 1 ? Math.ceil(((1 - grown) * 60) / perMinute) : undefined
    },
  }
}

/** A host whose stores, clock and log tests look at. It fetches nothing. */
export interface FakeHost extends Host {
  readonly clock: FakeClock
  readonly stores: Map<string, FakeStore<unknown>>
  readonly lines: LogLine[]
}

/** A host with a configuration, or none. */
export function fakeHost(config?: ExtensionConfig): FakeHost {
  const clock: FakeClock = { ms: 1_800_000_000_123, elapsedMs: 7_000 }
  const stores = new Map<string, FakeStore<unknown>>()
  const { log, lines } = fakeLog()
  return {
    clock,
    stores,
    lines,
    log,
    config: async () => config,
    store<Value>(name: string) {
      const store = stores.get(name) ?? fakeStore<unknown>()
      stores.set(name, store)
      // What an extension reads in a store of its own is what it put there.
      return store as FakeStore<Value>
    },
    limit: (_name, options) => fakeLimit(options, clock),
    fetch: async () => {
      throw new Error('nothing is fetched here')
    },
    now: () => clock.ms,
    elapsedMs: () => clock.elapsedMs,
  }
}

/** Somebody at an identity provider. */
export const ada: Identity = {
  userId: '1815',
  userName: 'ada',
  displayName: 'Ada Lovelace',
  profileUrl: 'https://pictures.test/ada.png',
  email: 'ada@mail.test',
}

/** An identity provider that says whatever a test wants. */
export interface FakeIdentityProvider extends IdentityProvider {
  /** Who comes next, or what goes wrong. */
  next: Identity | Error
  readonly asked: { readonly callback: CallbackParameters; readonly secrets: FlowSecrets }[]
  readonly secrets: FlowSecrets
}

/** An identity provider at `id.test`, at which Ada has an account. */
export function fakeIdentityProvider(): FakeIdentityProvider {
  const provider: FakeIdentityProvider = {
    displayName: 'Example',
    next: ada,
    asked: [],
    secrets: { codeVerifier: 'verifier-of-the-flow', nonce: 'nonce-of-the-flow' },
    begin: async (state) => ({ url: `https://id.test/authorize?state=${state}`, secrets: provider.secrets }),
    async identify(callback, secrets) {
      provider.asked.push({ callback, secrets })
      if (provider.next instanceof Error) throw provider.next
      return provider.next
    },
  }
  return provider
}

/** Settings of a service at `https://svc.test`. */
export const settingsForTests: Settings = {
  client: { id: 'the-client', secret: 'the-secret-of-the-client' },
  redirectUri: 'https://svc.test/auth/provider/callback',
  endpoints: {
    kind: 'oauth',
    authorizeUrl: 'https://id.test/authorize',
    tokenUrl: 'https://id.test/token',
    userUrl: 'https://id.test/user',
    issuer: 'https://id.test',
  },
  scope: 'read',
  tokenAuthMethod: 'client_secret_post',
  hasPkce: true,
  userFields: { id: 'id', username: 'login', displayName: 'name', avatar: 'avatar_url', email: 'email' },
  displayName: 'Example',
  restrictTo: parseAllowList(['ada, grace']),
  allowsInsecureHttp: false,
  cookieName: 'token',
  requestsPerMinute: 120,
  trustedProxies: [],
}

/** The same for everybody. */
export const unrestrictedSettings: Settings = (({ restrictTo, ...others }) => others)(settingsForTests)

/** The same before its owner has registered it anywhere. */
export const settingsWithoutClient: Settings = (({ client, redirectUri, ...others }) => others)(settingsForTests)

/** What a browser sends with every request. */
export const browserHeaders = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
}

/** How a test asks. */
export interface AskOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly address?: string
}

/** Sign-in as the service runs it, asked without a socket. */
export interface SignInUnderTest {
  readonly host: FakeHost
  readonly provider: FakeIdentityProvider
  readonly contribution: Contribution
  /** Asks a route of the extension, found as the service finds it. @throws what the route throws */
  ask(target: string, options?: AskOptions): Promise<Response>
  /** Asks the guard. */
  pass(target: string, options?: AskOptions): ReturnType<NonNullable<Contribution['guard']>>
  /** Begins a sign-in: the state, and the flow cookie as a browser sends it back. */
  begin(options?: AskOptions): Promise<{ readonly state: string; readonly cookie: string; readonly response: Response }>
  /** Comes back from the identity provider. */
  finish(state: string, options?: AskOptions): Promise<Response>
  /** Signs somebody in, and gives the session's token. */
  signIn(identity?: Identity): Promise<string>
  /** The same service with other settings: what `start` gives after a change of the file. */
  withSettings(settings: Settings): SignInUnderTest
}

/** Sign-in over fakes. */
export function signInUnderTest(
  settings: Settings = settingsForTests,
  host: FakeHost = fakeHost(),
  provider: FakeIdentityProvider = fakeIdentityProvider(),
): SignInUnderTest {
  const contribution = signIn(host, settings, settings.client === undefined ? undefined : provider)

  function visit(target: string, { method = 'GET', headers = {}, address = '203.0.113.9' }: AskOptions = {}): Visit {
    const request = new Request(`https://svc.test${target}`, { method, headers })
    return { request, path: new URL(request.url).pathname, address, id: 'request-1' }
  }

  const subject: SignInUnderTest = {
    host,
    provider,
    contribution,
    async ask(target, options) {
      const visited = visit(target, options)
      const wanted = visited.request.method === 'HEAD' ? 'GET' : visited.request.method
      const routes = (contribution.routes ?? []).filter(({ method }) => method === wanted)
      const route =
        routes.find(({ path }) => path === visited.path) ??
        routes.find(({ path }) => path.endsWith('/') && visited.path.startsWith(path))
      if (route === undefined) throw new Error(`no route for ${wanted} ${visited.path}`)
      return route.handle(visited)
    },
    async pass(target, options) {
      return contribution.guard?.(visit(target, options))
    },
    async begin(options = { headers: browserHeaders }) {
      const response = await subject.ask('/auth/provider', options)
      const state = new URL(response.headers.get('location') ?? '').searchParams.get('state') ?? ''
      const [cookie = ''] = response.headers.getSetCookie()[0]?.split(';') ?? []
      return { state, cookie, response }
    },
    finish: (state, options) => subject.ask(`/auth/provider/callback?code=the-code&state=${state}`, options),
    async signIn(identity = ada) {
      provider.next = identity
      const { state, cookie } = await subject.begin()
      const response = await subject.finish(state, { headers: { ...browserHeaders, cookie } })
      return new URL(response.headers.get('location') ?? '', 'https://svc.test').searchParams.get('session') ?? ''
    },
    withSettings: (changed) => signInUnderTest(changed, host, provider),
  }
  return subject
}

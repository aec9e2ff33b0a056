import { randomUUID } from 'node:crypto'
import { answerOf, chat, question, type Answer } from '../client.ts'
import { openBrowser, type Browser, type BrowserOptions, type Page } from '../fakes/browser.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { ada, type FakeIdentityProvider, type Registration } from '../fakes/identity/identity-provider.ts'
import { provider, startService, type HomeFile, type ServiceOptions, type ServiceUnderTest } from '../harness.ts'

/** Path of the extension's configuration file in the home folder of a service. */
export const configPath = 'users/default/provider_auth/config.json'

/** Members of config.json; those that are `undefined` are left out. */
export type SignInConfig = Readonly<Record<string, unknown>>

export interface SignInOptions extends ServiceOptions {
  /** Added to, or replacing, the members for the identity provider. */
  readonly config?: SignInConfig
  /** Client id, secret and redirect URI. Default: generated. */
  readonly registration?: Registration
  /** Whether `--auth provider_auth` is given. Default true. */
  readonly isOnByFlag?: boolean
  /** `owners` of providers.json. */
  readonly owners?: readonly string[]
  /** `name` of providers.json. */
  readonly name?: string
  /** `history` of providers.json. */
  readonly history?: 'server'
  /** Permissions of config.json. Default 0o600. */
  readonly mode?: number
}

/** A signed-in user. */
export interface SignedIn {
  readonly browser: Browser
  /** The session token. */
  readonly token: string
  /** Response of the callback. */
  readonly page: Page
}

/**
 * A service with sign-in, an identity provider and an upstream. Disposal stops them, and fails if the log holds a
 * secret.
 */
export interface SignInRig<Provider extends FakeIdentityProvider = FakeIdentityProvider> extends AsyncDisposable {
  readonly service: ServiceUnderTest
  readonly provider: Provider
  readonly registration: Registration
  /** Serves model `m`. */
  readonly upstream: FaultUpstream
  /** Opens a browser without cookies. Secrets in its pages are checked against the log. */
  browser(options?: BrowserOptions): Browser
  /** Starts a sign-in and approves it at the identity provider. @returns the callback URL, not yet requested */
  authorize(browser: Browser, person?: string): Promise<string>
  /** Signs in. @throws if that fails */
  signIn(person?: string, browser?: Browser): Promise<SignedIn>
  /** Sends a chat request for model `m`. */
  ask(headers?: Readonly<Record<string, string>>, more?: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Sends a GET without cookies; does not follow redirects. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Replaces config.json: members as in {@link SignInOptions}, or the exact text; `null` removes the file. */
  configure(config: SignInConfig | string | null): Promise<void>
  /** Adds values that the log must not hold. */
  remember(...secrets: readonly string[]): void
  /** Waits for a log line that contains all words. */
  logged(...words: readonly string[]): Promise<string>
}

/**
 * A free port of 127.0.0.1, for a redirect URI that names the port before the service listens. It is below the
 * ephemeral ports, so that no outgoing connection takes it meanwhile.
 */
export function freePort(): number {
  const port = 10_000 + Math.floor(Math.random() * 20_000)
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return port
  } catch {
    // The port is in use.
    return freePort()
  }
}

/** Creates the registration of a service on a port. */
export function register(port = freePort()): Registration {
  return {
    clientId: 'svc-under-test',
    clientSecret: randomUUID(),
    redirectUri: `http://127.0.0.1:${port}/auth/provider/callback`,
  }
}

/** Text of config.json for an identity provider. Without a rate limit, unless `more` sets it. */
export function configText(
  fake: FakeIdentityProvider,
  { clientId, clientSecret, redirectUri }: Registration,
  more: SignInConfig = {},
): string {
  return JSON.stringify(
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uri: redirectUri,
      requests_per_minute: 0,
      ...fake.config,
      ...more,
    },
    undefined,
    2,
  )
}

/** Starts an identity provider, a service that uses it, and an upstream that serves model `m`. */
export async function startSignIn<Provider extends FakeIdentityProvider>(
  start: (registration: Registration) => Provider | Promise<Provider>,
  options: SignInOptions = {},
): Promise<SignInRig<Provider>> {
  const registration = options.registration ?? register()
  const fake = await start(registration)
  const upstream = faultUpstream(good())
  const secrets = new Set([registration.clientSecret])
  const file = { text: configText(fake, registration, options.config), mode: options.mode ?? 0o600 }
  const service = await startProtected(
    upstream.url,
    { [configPath]: file },
    { port: Number(new URL(registration.redirectUri).port), ...options },
  ).catch(async (error: unknown) => {
    await fake.stop()
    upstream.stop()
    throw error
  })
  const browserOf = (browserOptions: BrowserOptions = {}) =>
    openBrowser({
      ...browserOptions,
      onPage(page) {
        for (const secret of secretsOf(page)) secrets.add(secret)
        browserOptions.onPage?.(page)
      },
    })

  async function authorize(browser: Browser, person = ada): Promise<string> {
    const page = await browser.visit(`${service.url}/auth/provider`)
    if (page.location === undefined) throw new Error(`sign-in did not start: ${page.status} ${page.text}`)
    return fake.approve(browser, page.location, person)
  }

  return {
    service,
    provider: fake,
    registration,
    upstream,
    browser: browserOf,
    authorize,
    async signIn(person, browser = browserOf()) {
      const page = await browser.visit(await authorize(browser, person))
      return { browser, page, token: tokenIn(page) }
    },
    ask: (headers = {}, more = {}) => chat(service.url, question(more), { headers }),
    async get(path, headers = {}) {
      const response = await fetch(`${service.url}${path}`, { headers, redirect: 'manual' })
      return answerOf(response, await response.text())
    },
    configure: (config) =>
      service.write(
        configPath,
        config === null ? undefined : typeof config === 'string' ? config : configText(fake, registration, config),
      ),
    remember: (...more) => more.forEach((secret) => secrets.add(secret)),
    logged: (...words) => logged(service, words),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await fake.stop()
      upstream.stop()
      checkNoSecrets(service.output, [...secrets, ...fake.secrets])
    },
  }
}

/** Starts a service with `--auth provider_auth` and files, at log level debug. */
export function startProtected(
  upstreamUrl: string,
  files: Readonly<Record<string, HomeFile>>,
  options: ServiceOptions & Pick<SignInOptions, 'isOnByFlag' | 'owners' | 'name' | 'history'> = {},
): Promise<ServiceUnderTest> {
  const flags = [
    ...(options.isOnByFlag === false ? [] : ['--auth', 'provider_auth']),
    '--log-level',
    'debug',
    ...(options.flags ?? []),
  ]
  return startService(
    {
      providers: [provider('a', upstreamUrl)],
      ...(options.owners === undefined ? {} : { owners: options.owners }),
      ...(options.name === undefined ? {} : { name: options.name }),
      ...(options.history === undefined ? {} : { history: options.history }),
    },
    { ...options, files: { ...files, ...options.files }, flags },
  )
}

/** The session token in a callback's redirect. @throws if it has none */
export function tokenIn(page: Page): string {
  const token = page.location === undefined ? null : new URL(page.location).searchParams.get('session')
  if (token === null) throw new Error(`${page.status} at ${page.url} has no session: ${page.text}`)
  return token
}

/** Values of a page and its URL that the log must not hold. */
function secretsOf(page: Page): readonly string[] {
  const addresses = [page.url, page.location].flatMap((address) =>
    address === undefined ? [] : [new URL(address).searchParams],
  )
  const parameters = addresses.flatMap((query) => ['code', 'state', 'session', 'nonce'].map((name) => query.get(name)))
  const cookies = page.headers.getSetCookie().map((line) => /^[^=]+=([^;]*)/.exec(line)?.[1])
  return [...parameters, ...cookies].flatMap((secret) =>
    typeof secret === 'string' && secret.length >= 16 ? [secret] : [],
  )
}

/** Checks that a service's output holds no secret. @throws if it does */
export function checkNoSecrets(output: string, secrets: readonly string[]): void {
  const forms = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))]
  const found = forms.filter((form) => output.includes(form))
  const lines = output.split('\n').filter((line) => found.some((form) => line.includes(form)))
  if (found.length > 0) throw new Error(`the log holds ${found.length} secrets, as in\n${lines.slice(0, 5).join('\n')}`)
}

/** Waits for a line of a service's output that contains all words. @throws after five seconds */
export async function logged(service: ServiceUnderTest, words: readonly string[]): Promise<string> {
  for (let round = 0; round < 500; round++) {
    const line = service.output.split('\n').find((each) => words.every((word) => each.includes(word)))
    if (line !== undefined) return line
    await Bun.sleep(10)
  }
  throw new Error(`no line with ${words.join(', ')}:\n${service.output}`)
}

import { randomUUID } from 'node:crypto'
import { answerOf, chat, question } from '../client.ts'
import type { Answer } from '../client.ts'
import { openBrowser } from '../fakes/browser.ts'
import type { Browser, BrowserOptions, Page } from '../fakes/browser.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { FaultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { ada } from '../fakes/identity/identity-provider.ts'
import type { FakeIdentityProvider, Registration } from '../fakes/identity/identity-provider.ts'
import { provider, startService } from '../harness.ts'
import type { HomeFile, ServiceOptions, ServiceUnderTest } from '../harness.ts'

/** Where the extension's file lies in the home of a service. */
export const configPath = 'users/default/provider_auth/config.json'

/** Members of config.json. One that is `undefined` is left out. */
export type SignInConfig = Readonly<Record<string, unknown>>

export interface SignInOptions extends ServiceOptions {
  /** Added to, and in place of, what leads to the identity provider. */
  readonly config?: SignInConfig
  /** What the service and the identity provider know of one another. Default: made up. */
  readonly registration?: Registration
  /** Whether `--auth provider_auth` is given. Default true. */
  readonly isOnByFlag?: boolean
  /** Permissions of config.json. Default 0o600. */
  readonly mode?: number
}

/** Somebody who has signed in. */
export interface SignedIn {
  readonly browser: Browser
  /** The session token. */
  readonly token: string
  /** The answer of the callback. */
  readonly page: Page
}

/**
 * A service with sign-in and what it needs. `await using` stops it all, and sees to it that no secret stands in its
 * log.
 */
export interface SignInRig<Provider extends FakeIdentityProvider = FakeIdentityProvider> extends AsyncDisposable {
  readonly service: ServiceUnderTest
  readonly provider: Provider
  readonly registration: Registration
  /** Serves model `m`. */
  readonly upstream: FaultUpstream
  /** A browser that has been nowhere yet; the rig remembers the secrets it sees. */
  browser(options?: BrowserOptions): Browser
  /**
   * Begins to sign in and does so at the identity provider. @returns the address of the callback, which is not asked
   * for
   */
  approach(browser: Browser, person?: string): Promise<string>
  /** Signs in. @throws when that does not succeed */
  signIn(person?: string, browser?: Browser): Promise<SignedIn>
  /** Asks model `m` with these headers. */
  ask(headers?: Readonly<Record<string, string>>, more?: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Asks for something of the service, without cookies and without following. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Replaces config.json: members as in {@link SignInOptions}, or the exact text; `null` removes the file. */
  configure(config: SignInConfig | string | null): Promise<void>
  /** Values that may stand in no log. */
  remember(...secrets: readonly string[]): void
  /** Waits until a line of the log contains all of these. */
  logged(...words: readonly string[]): Promise<string>
}

/**
 * A port of 127.0.0.1 that nobody listens on: a redirect URI names the port before the service has it. It is below
 * those that systems give to connections going out, one of which might have it by then.
 */
export function freePort(): number {
  const port = 10_000 + Math.floor(Math.random() * 20_000)
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return port
  } catch {
    // Somebody has it.
    return freePort()
  }
}

/** A client of an identity provider, for a service on this port. */
export function register(port = freePort()): Registration {
  return {
    clientId: 'svc-under-test',
    clientSecret: randomUUID(),
    redirectUri: `http://127.0.0.1:${port}/auth/provider/callback`,
  }
}

/**
 * The text of config.json that leads to an identity provider. Nobody is held up by the limit of requests, unless `more`
 * sets it.
 */
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

/** Starts an identity provider, and a service that has it as its own, with one good upstream that serves model `m`. */
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

  async function approach(browser: Browser, person = ada): Promise<string> {
    const page = await browser.visit(`${service.url}/auth/provider`)
    if (page.location === undefined) throw new Error(`sign-in did not begin: ${page.status} ${page.text}`)
    return fake.approve(browser, page.location, person)
  }

  return {
    service,
    provider: fake,
    registration,
    upstream,
    browser: browserOf,
    approach,
    async signIn(person, browser = browserOf()) {
      const page = await browser.visit(await approach(browser, person))
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
      mustBeSilent(service.output, [...secrets, ...fake.secrets])
    },
  }
}

/** Starts a service with sign-in asked for and these files, which logs all it can. */
export function startProtected(
  upstreamUrl: string,
  files: Readonly<Record<string, HomeFile>>,
  options: ServiceOptions & Pick<SignInOptions, 'isOnByFlag'> = {},
): Promise<ServiceUnderTest> {
  const flags = [
    ...(options.isOnByFlag === false ? [] : ['--auth', 'provider_auth']),
    '--log-level',
    'debug',
    ...(options.flags ?? []),
  ]
  return startService(
    { providers: [provider('a', upstreamUrl)] },
    { ...options, files: { ...files, ...options.files }, flags },
  )
}

/** The session token that a callback's redirect carries. @throws when it carries none */
export function tokenIn(page: Page): string {
  const token = page.location === undefined ? null : new URL(page.location).searchParams.get('session')
  if (token === null) throw new Error(`${page.status} at ${page.url} gives no session: ${page.text}`)
  return token
}

/** Everything in a page, and in its address, that no log may hold. */
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

/** @throws when a secret stands in what a service wrote */
export function mustBeSilent(output: string, secrets: readonly string[]): void {
  const forms = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))]
  const told = forms.filter((form) => output.includes(form))
  const lines = output.split('\n').filter((line) => told.some((form) => line.includes(form)))
  if (told.length > 0) throw new Error(`the log holds ${told.length} secrets, as in\n${lines.slice(0, 5).join('\n')}`)
}

/** Waits until a line of a service's output contains every one of these. @throws when none does within five seconds */
export async function logged(service: ServiceUnderTest, words: readonly string[]): Promise<string> {
  for (let round = 0; round < 500; round++) {
    const line = service.output.split('\n').find((each) => words.every((word) => each.includes(word)))
    if (line !== undefined) return line
    await Bun.sleep(10)
  }
  throw new Error(`no line with ${words.join(', ')}:\n${service.output}`)
}

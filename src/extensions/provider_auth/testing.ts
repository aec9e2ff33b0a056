import { WireError } from '../../formats/error.ts'
import type { Contribution, RouteContext } from '../extension.ts'
import { fakeHost, type FakeHost } from '../testing.ts'
import type { CallbackParameters, FlowSecrets, Identity, IdentityProvider } from './oauth/identity-provider.ts'
import { parseAllowList } from './settings/restrict-to.ts'
import type { Settings } from './settings/settings.ts'
import { signIn } from './sign-in.ts'

/** A user of the identity provider. */
export const ada: Identity = {
  userId: '1815',
  userName: 'ada',
  displayName: 'Ada Lovelace',
  profileUrl: 'https://pictures.test/ada.png',
  email: 'ada@mail.test',
}

/** An identity provider with a result that tests set. */
export interface FakeIdentityProvider extends IdentityProvider {
  /** Result of `identify`. */
  result: Identity | Error
  readonly calls: { readonly callback: CallbackParameters; readonly secrets: FlowSecrets }[]
  readonly secrets: FlowSecrets
}

/** An identity provider at `id.test` that identifies {@link ada}. */
export function fakeIdentityProvider(): FakeIdentityProvider {
  const provider: FakeIdentityProvider = {
    displayName: 'Example',
    result: ada,
    calls: [],
    secrets: { codeVerifier: 'verifier-of-the-flow', nonce: 'nonce-of-the-flow' },
    begin: async (state) => ({ url: `https://id.test/authorize?state=${state}`, secrets: provider.secrets }),
    probe: async () => undefined,
    async identify(callback, secrets) {
      provider.calls.push({ callback, secrets })
      if (provider.result instanceof Error) throw provider.result
      return provider.result
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
  hasCaselessNames: true,
  restrictTo: parseAllowList('ada, grace', true),
  allowsInsecureHttp: false,
  cookieName: 'token',
  requestsPerMinute: 120,
  trustedProxies: [],
  hasAgents: false,
  agentDays: 7,
}

/** The same without `restrict_to`. */
export const unrestrictedSettings: Settings = (({ restrictTo, ...others }) => others)(settingsForTests)

/** The same without client id and secret. */
export const settingsWithoutClient: Settings = (({ client, redirectUri, ...others }) => others)(settingsForTests)

/** Headers that a browser sends with a navigation. */
export const browserHeaders = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
}

/** Options of a test's request. */
export interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly address?: string
  readonly body?: string
}

/** Sign-in as the service runs it, called without a socket. */
export interface SignInUnderTest {
  readonly host: FakeHost
  readonly provider: FakeIdentityProvider
  readonly contribution: Contribution
  /** Sends a request to a route of the extension, selected as in the service. @throws the error of the route */
  request(target: string, options?: RequestOptions): Promise<Response>
  /** Passes a request through the guard. */
  pass(target: string, options?: RequestOptions): ReturnType<NonNullable<Contribution['guard']>>
  /** Starts a sign-in; returns its state, and the flow cookie as a browser sends it. */
  begin(
    options?: RequestOptions,
  ): Promise<{ readonly state: string; readonly cookie: string; readonly response: Response }>
  /** Sends the callback. */
  finish(state: string, options?: RequestOptions): Promise<Response>
  /** Signs a user in; returns the session token. */
  signIn(identity?: Identity): Promise<string>
  /** The same service with other settings, as after a change of the file. */
  withSettings(settings: Settings): SignInUnderTest
}

/** Sign-in over fakes. */
export function signInUnderTest(
  settings: Settings = settingsForTests,
  host: FakeHost = fakeHost(),
  provider: FakeIdentityProvider = fakeIdentityProvider(),
): SignInUnderTest {
  const contribution = signIn(host, settings, settings.client === undefined ? undefined : provider)

  function contextOf(
    target: string,
    { method = 'GET', headers = {}, address = '203.0.113.9', body = '' }: RequestOptions = {},
  ): RouteContext {
    const request = new Request(`https://svc.test${target}`, { method, headers })
    return {
      request,
      path: new URL(request.url).pathname,
      address,
      caller: {},
      id: 'request-1',
      async body(bytesMax) {
        if (body.length > bytesMax) throw new WireError(413, 'invalid_request_error', 'request_too_large', 'Too large')
        return new TextEncoder().encode(body)
      },
    }
  }

  const subject: SignInUnderTest = {
    host,
    provider,
    contribution,
    async request(target, options) {
      const context = contextOf(target, options)
      const wanted = context.request.method === 'HEAD' ? 'GET' : context.request.method
      const routes = (contribution.routes ?? []).filter(({ method }) => method === wanted)
      const route =
        routes.find(({ path }) => path === context.path) ??
        routes.find(({ path }) => path.endsWith('/') && context.path.startsWith(path))
      if (route === undefined) throw new Error(`no route for ${wanted} ${context.path}`)
      return route.handle(context)
    },
    async pass(target, options) {
      return contribution.guard?.(contextOf(target, options))
    },
    async begin(options = { headers: browserHeaders }) {
      const response = await subject.request('/auth/provider', options)
      const state = new URL(response.headers.get('location') ?? '').searchParams.get('state') ?? ''
      const [cookie = ''] = response.headers.getSetCookie()[0]?.split(';') ?? []
      return { state, cookie, response }
    },
    finish: (state, options) => subject.request(`/auth/provider/callback?code=the-code&state=${state}`, options),
    async signIn(identity = ada) {
      provider.result = identity
      const { state, cookie } = await subject.begin()
      const response = await subject.finish(state, { headers: { ...browserHeaders, cookie } })
      return new URL(response.headers.get('location') ?? '', 'https://svc.test').searchParams.get('session') ?? ''
    },
    withSettings: (changed) => signInUnderTest(changed, host, provider),
  }
  return subject
}

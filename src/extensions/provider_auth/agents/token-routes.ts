import type { ClientAddresses } from '../../../base/client-address.ts'
import { oneLine } from '../../../base/text-rule.ts'
import { NoAnswer, WireError } from '../../../formats/error.ts'
import type { Limit } from '../../../stores/store.ts'
import type { ExtensionLog, ExtensionRoute, RouteContext } from '../../extension.ts'
import { withStore } from '../responses.ts'
import { hashOf } from '../session/random-token.ts'
import { deviceFlowSeconds, type DeviceFlows } from './device-flows.ts'
import { accessSeconds, type Families, type IssuedTokens } from './families.ts'
import { answeredOrClosed, oauthAnswer, oauthError, readOAuthForm } from './oauth-answers.ts'

/** Claude Code uses these by itself, too, if it does not get the description. */
const flowPath = '/oauth/device_authorization'
const tokenPath = '/oauth/token'
const revokePath = '/oauth/revoke'
/** The page where a person enters a user code. */
export const devicePath = '/device'

/** Requests for a sign-in in a minute, of one client. */
export const startsPerMinute = 30
/** Requests for tokens in a minute, of one client: an office may share an address. */
export const tokensPerMinute = 1_200
/** Questions in a minute for one sign-in; the interval asks for 12. */
export const pollsPerMinute = 15
const intervalSeconds = 5
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export interface TokenRoutesOptions {
  readonly flows: DeviceFlows
  readonly families: Families
  /** Origin of the service for browsers. A `Host` is never used. */
  readonly origin: string
  readonly clients: ClientAddresses
  readonly limits: { readonly starts: Limit; readonly tokens: Limit; readonly polls: Limit }
  readonly log: ExtensionLog
}

/** The endpoints of OAuth 2.0 for agents: description, device authorization, tokens and revocation. All are public. */
export function tokenRoutes(options: TokenRoutesOptions): readonly ExtensionRoute[] {
  const { origin, families } = options

  async function describe(): Promise<Response> {
    return oauthAnswer(200, {
      issuer: origin,
      device_authorization_endpoint: origin + flowPath,
      token_endpoint: origin + tokenPath,
      revocation_endpoint: origin + revokePath,
      grant_types_supported: [deviceGrant, 'refresh_token'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      gateway_protocol_version: 1,
    })
  }

  /** opencode runs the command once, at its sign-in, and puts the token into the variable. */
  async function describeToOpencode(): Promise<Response> {
    return oauthAnswer(200, {
      auth: { command: ['svc', 'token', '--url', origin], env: 'SVC_TOKEN' },
      config: {
        provider: {
          svc: {
            npm: '@ai-sdk/openai-compatible',
            name: 'svc',
            options: { baseURL: `${origin}/v1`, apiKey: '{env:SVC_TOKEN}' },
          },
        },
      },
    })
  }

  async function revoke(context: RouteContext): Promise<Response> {
    const token = (await readOAuthForm(context))?.get('token')
    if (token === undefined) return oauthError(400, 'invalid_request', 'a form with token is needed')
    await families.revoke(token)
    return oauthAnswer(200, {})
  }

  const routes: readonly Omit<ExtensionRoute, 'isPublic'>[] = [
    { method: 'GET', path: '/.well-known/oauth-authorization-server', handle: describe },
    { method: 'GET', path: '/.well-known/opencode', handle: describeToOpencode },
    { method: 'POST', path: flowPath, handle: (context) => withStore(() => startFlow(options, context)) },
    { method: 'POST', path: tokenPath, handle: (context) => answeredOrClosed(() => giveTokens(options, context)) },
    {
      method: 'POST',
      path: revokePath,
      handle: (context) => answeredOrClosed(() => limited(options, context, () => revoke(context))),
    },
    { method: 'GET', path: '/managed/settings', handle: noSettings },
  ]
  return routes.map((route) => ({ ...route, isPublic: true }))
}

async function startFlow({ flows, origin, clients, limits }: TokenRoutesOptions, context: RouteContext) {
  const client = clients.keyOf(context)
  const seconds = await limits.starts.take(client)
  if (seconds !== undefined) return oauthAnswer(429, { error: 'slow_down' }, { 'retry-after': String(seconds) })
  const form = await readOAuthForm(context)
  if (form === undefined) return oauthError(400, 'invalid_request', 'a form is needed, with each name once')
  const { deviceCode, userCode } = await flows.begin({
    agent: agentName(form, context.request),
    from: addressOf(clients, context),
    client,
  })
  const uri = origin + devicePath
  return oauthAnswer(200, {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: uri,
    verification_uri_complete: `${uri}?user_code=${userCode}`,
    expires_in: deviceFlowSeconds,
    interval: intervalSeconds,
  })
}

async function giveTokens(options: TokenRoutesOptions, context: RouteContext): Promise<Response> {
  return await limited(options, context, async () => {
    const form = await readOAuthForm(context)
    const grant = form?.get('grant_type')
    if (form === undefined || grant === undefined)
      return oauthError(400, 'invalid_request', 'a form is needed, with each name once and grant_type')
    if (grant === deviceGrant) return await poll(options, form.get('device_code'))
    if (grant === 'refresh_token') return await refresh(options, form.get('refresh_token'))
    return oauthError(400, 'unsupported_grant_type')
  })
}

async function poll({ flows, families, limits, log }: TokenRoutesOptions, deviceCode: string | undefined) {
  if (deviceCode === undefined) return oauthError(400, 'invalid_request', 'device_code is missing')
  if ((await limits.polls.take(hashOf(deviceCode))) !== undefined) return oauthError(429, 'slow_down')
  const outcome = await flows.poll(deviceCode)
  if (outcome.kind === 'pending') return oauthError(400, 'authorization_pending')
  if (outcome.kind === 'expired') return oauthError(400, 'expired_token')
  if (outcome.kind === 'denied') return oauthError(400, 'access_denied')
  const tokens = await families.begin(outcome, outcome)
  if (tokens === undefined) return oauthError(400, 'access_denied')
  log.info('an agent was signed in', { user: outcome.userName, id: outcome.userId, agent: outcome.agent })
  return tokenAnswer(tokens)
}

async function refresh({ families }: TokenRoutesOptions, token: string | undefined): Promise<Response> {
  if (token === undefined) return oauthError(400, 'invalid_request', 'refresh_token is missing')
  const tokens = await families.refresh(token)
  return tokens === undefined ? oauthError(401, 'invalid_grant') : tokenAnswer(tokens)
}

function tokenAnswer({ access, refresh: refresh_token, person: { email } }: IssuedTokens): Response {
  return oauthAnswer(200, {
    access_token: access,
    token_type: 'Bearer',
    expires_in: accessSeconds,
    refresh_token,
    // Claude Code shows it, and asks whether it is the right one.
    ...(email === '' ? {} : { email }),
  })
}

/** @throws {NoAnswer} beyond the limit: agents would take 429 for the end of their sign-in */
async function limited(
  { clients, limits }: TokenRoutesOptions,
  context: RouteContext,
  work: () => Promise<Response>,
): Promise<Response> {
  const seconds = await limits.tokens.take(clients.keyOf(context))
  if (seconds !== undefined) throw new NoAnswer('too many requests for tokens')
  return await work()
}

/** Claude Code starts when there are no settings, and does not when it gets another error. */
async function noSettings(): Promise<Response> {
  throw new WireError(404, 'invalid_request_error', 'not_found', 'The service has no managed settings')
}

const knownAgents: ReadonlyMap<string, string> = new Map([
  ['claude_code', 'Claude Code'],
  ['svc', 'svc'],
])
const nameRule = oneLine(60)

/** The name of a program for people, with that of its machine if it says it. Nothing of it is proved. */
function agentName(form: ReadonlyMap<string, string>, { headers }: Request): string {
  const surface = form.get('surface') ?? form.get('client_id')
  const said = [surface, headers.get('user-agent')?.split(/[/ ]/)[0]]
    .map((text) => text?.slice(0, 60))
    .find((text) => text !== undefined && nameRule.pattern.test(text))
  const name = (surface === undefined ? undefined : knownAgents.get(surface)) ?? said ?? 'a program'
  const machine = form.get('machine')
  const isMachine = machine !== undefined && machine.length <= 60 && nameRule.pattern.test(machine)
  return isMachine ? `${name} (${machine})` : name
}

function addressOf(clients: ClientAddresses, context: RouteContext): string {
  return clients.addressOf(context) === undefined ? 'an unknown address' : clients.keyOf(context)
}

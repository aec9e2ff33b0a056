import { pick } from '../client.ts'

/** An answer that would make Claude Code fail. */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure'
}

/** The codes that it shows. */
export interface ShownCodes {
  readonly userCode: string
  readonly page: string
}

/** Claude Code at a gateway, as strict as version 2.1.332 was measured. */
export interface ClaudeCode {
  /** `/login` until the code is shown. */
  login(): Promise<ShownCodes>
  /** One question to the token endpoint for that code. */
  poll(): Promise<'pending' | 'signed in'>
  /** A start: it asks for settings, and does not start unless there are none or they are well-formed. */
  start(): Promise<void>
  /** A question of a session. @returns the status and the body of the answer */
  ask(
    model: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly body: unknown }>
  /** Renews its tokens, as it does before a request within five minutes of the end. */
  renew(): Promise<'renewed' | 'kept' | 'erased'>
  discover(): Promise<readonly string[]>
  logout(): Promise<void>
  readonly tokens: { readonly access: string; readonly refresh: string | undefined; readonly email: unknown }
}

/** Opens a client without a sign-in. @param remember gets each secret */
export function claudeCode(base: string, remember: (secret: string) => void): ClaudeCode {
  let endpoints = { device: `${base}/oauth/device_authorization`, token: `${base}/oauth/token`, revoke: '' }
  let deviceCode = ''
  let tokens: ClaudeCode['tokens'] = { access: '', refresh: undefined, email: undefined }
  const agent = { 'user-agent': 'claude-code/2.1.332', accept: 'application/json, text/plain, */*' }

  async function post(url: string, form: Readonly<Record<string, string>>): Promise<{ status: number; body: unknown }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: agent,
      body: new URLSearchParams(form),
      redirect: 'error',
    })
    if (response.headers.get('cache-control') !== 'no-store') throw new AgentFailure('a token may be cached')
    return { status: response.status, body: await response.json() }
  }

  function textIn(body: unknown, name: string): string {
    const value = pick(body, name)
    if (typeof value !== 'string' || value === '') throw new AgentFailure(`${name} is missing`)
    return value
  }

  /** Endpoints of another origin are not used. */
  function own(address: string): string {
    if (new URL(address).origin !== new URL(base).origin) throw new AgentFailure(`${address} is of another origin`)
    return address
  }

  function take(body: unknown): void {
    if (pick(body, 'token_type') !== 'Bearer') throw new AgentFailure('the token is of another type')
    if (typeof pick(body, 'expires_in') !== 'number') throw new AgentFailure('the token has no end')
    tokens = {
      access: textIn(body, 'access_token'),
      refresh: textIn(body, 'refresh_token'),
      email: pick(body, 'email'),
    }
    remember(tokens.access)
    remember(tokens.refresh ?? '')
  }

  const bearer = () => ({ ...agent, authorization: `Bearer ${tokens.access}` })

  return {
    get tokens() {
      return tokens
    },

    async login() {
      const found = await fetch(`${base}/.well-known/oauth-authorization-server`, { headers: agent })
      const description: unknown = await found.json()
      endpoints = {
        device: own(textIn(description, 'device_authorization_endpoint')),
        token: own(textIn(description, 'token_endpoint')),
        revoke: own(textIn(description, 'revocation_endpoint')),
      }
      // The whole body: no client_id and no scope.
      const { status, body } = await post(endpoints.device, { surface: 'claude_code' })
      if (status !== 200) throw new AgentFailure(`no sign-in: ${status}`)
      deviceCode = textIn(body, 'device_code')
      remember(deviceCode)
      own(textIn(body, 'verification_uri'))
      return { userCode: textIn(body, 'user_code'), page: own(textIn(body, 'verification_uri_complete')) }
    },

    async poll() {
      const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: deviceCode }
      const { status, body } = await post(endpoints.token, form)
      if (status === 400 && pick(body, 'error') === 'authorization_pending') return 'pending'
      if (status !== 200) throw new AgentFailure(`not signed in: ${String(pick(body, 'error'))}`)
      take(body)
      return 'signed in'
    },

    async start() {
      const { status } = await fetch(`${base}/managed/settings`, { headers: bearer() })
      if (status !== 404) throw new AgentFailure(`it does not start: settings have status ${status}`)
    },

    async ask(model, headers = {}) {
      const response = await fetch(`${base}/v1/messages?beta=true`, {
        method: 'POST',
        headers: { ...bearer(), 'anthropic-version': '2023-06-01', 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] }),
      })
      const { status } = response
      // It asks eleven times otherwise.
      if (status === 401 && response.headers.get('x-should-retry') !== 'false')
        throw new AgentFailure('it would repeat a request that is refused')
      return { status, body: await response.json() }
    },

    async renew() {
      try {
        const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh ?? '' }
        const { status, body } = await post(endpoints.token, form)
        if (status === 200) {
          take(body)
          return 'renewed'
        }
      } catch {
        // A lost connection: it keeps the token.
        return 'kept'
      }
      // After any status of an error.
      tokens = { ...tokens, refresh: undefined }
      return 'erased'
    },

    async discover() {
      const headers = { ...bearer(), 'anthropic-version': '2023-06-01' }
      const body: unknown = await (await fetch(`${base}/v1/models?limit=1000`, { headers })).json()
      const data = pick(body, 'data')
      if (!Array.isArray(data) || pick(body, 'has_more') !== false) throw new AgentFailure('no list of models')
      return data.map((model: unknown) => {
        if (pick(model, 'type') !== 'model') throw new AgentFailure('an entry of the list is no model')
        return `${textIn(model, 'id')} ${textIn(model, 'display_name')}`
      })
    },

    async logout() {
      await post(endpoints.revoke, { token: tokens.access })
      await post(endpoints.revoke, { token: tokens.refresh ?? '', token_type_hint: 'refresh_token' })
    },
  }
}

import { createHash, randomUUID } from 'node:crypto'
import { faultUpstream, type Exchange, type Hit, type Script } from '../fault-upstream.ts'
import { reply } from '../replies.ts'
import { ada, type FakeIdentityProvider, type Registration } from './identity-provider.ts'

/** An endpoint of GitHub in the sign-in flow. */
export type GithubPlace = 'authorize' | 'token' | 'user' | 'emails'

/**
 * Plain OAuth 2.0 with GitHub's peculiarities: errors with status 200, `iss` in the callback, a required `User-Agent`,
 * and email addresses at a separate endpoint.
 */
export interface Github extends FakeIdentityProvider {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Requests at an endpoint since the last `heal`. */
  asked(place: GithubPlace): readonly Hit[]
  /** Replaces the answers of an endpoint for `person`. Not for `authorize`. */
  use(place: GithubPlace, person: string, script: Script): void
  /** Removes all faults, and clears `asked`. */
  heal(): void
  /** Profile of a person. */
  profile(person: string): Readonly<Record<string, unknown>>
}

/** `iss` of GitHub's callback since 2026. */
const issuer = 'https://github.com/login/oauth'

/** Paths of an Enterprise server, and of Gitea. */
const places: Readonly<Record<string, GithubPlace>> = {
  '/login/oauth/authorize': 'authorize',
  '/login/oauth/access_token': 'token',
  '/api/v3/user': 'user',
  '/api/v3/user/emails': 'emails',
  '/api/v1/user': 'user',
}

interface Grant {
  readonly person: string
  readonly redirectUri: string
  readonly challenge: string | undefined
}

/** Starts a fake GitHub for one client. */
export function startGithub(registration: Registration): Github {
  const codes = new Map<string, Grant>(),
    tokens = new Map<string, string>()
  const secrets = new Set<string>()
  const scripts = new Map<string, Script>()
  const asked: { readonly place: GithubPlace; readonly hit: Hit }[] = []
  const own: Readonly<Record<GithubPlace, Script>> = {
    authorize: answering(authorize),
    token: answering(exchangeCode),
    user: answering(({ hit }) => withToken(hit, profileOf)),
    emails: answering(({ hit }) => withToken(hit, addressesOf)),
  }
  const upstream = faultUpstream(async (exchange) => {
    const place = places[exchange.hit.path.split('?')[0] ?? '']
    if (place === undefined) return await exchange.write(reply(404, 'Not Found', { 'content-type': 'text/plain' }))
    asked.push({ place, hit: exchange.hit })
    for (const value of [formOf(exchange.hit).get('code'), formOf(exchange.hit).get('code_verifier')])
      if (value !== null) secrets.add(value)
    await (scripts.get(`${place} ${personOf(exchange.hit)}`) ?? own[place])(exchange)
  })
  const url = `http://127.0.0.1:${upstream.port}`

  function authorize({ hit }: Exchange): Uint8Array {
    const query = new URL(hit.path, url).searchParams
    const state = query.get('state') ?? '',
      redirectUri = query.get('redirect_uri') ?? ''
    if (query.get('client_id') !== registration.clientId || redirectUri !== registration.redirectUri)
      return reply(404, 'Not Found')
    const code = randomUUID().replaceAll('-', '').slice(0, 20)
    secrets.add(code)
    codes.set(code, {
      person: query.get('person') ?? ada,
      redirectUri,
      challenge: query.get('code_challenge') ?? undefined,
    })
    return reply(302, '', {
      location: `${redirectUri}?${new URLSearchParams({ code, state, iss: issuer }).toString()}`,
    })
  }

  function exchangeCode({ hit }: Exchange): Uint8Array {
    const form = formOf(hit),
      grant = codes.get(form.get('code') ?? '')
    if (!hit.headers.has('user-agent')) return forbidden
    if (!isClient(hit))
      return refusal(hit, 'incorrect_client_credentials', 'The client_id and/or client_secret passed are incorrect.')
    if (grant === undefined || !codes.delete(form.get('code') ?? ''))
      return refusal(hit, 'bad_verification_code', 'The code passed is incorrect or expired.')
    if (form.get('redirect_uri') !== grant.redirectUri)
      return refusal(
        hit,
        'redirect_uri_mismatch',
        'The redirect_uri MUST match the registered callback URL for this application.',
      )
    if (grant.challenge !== undefined && grant.challenge !== challengeOf(form.get('code_verifier') ?? ''))
      return refusal(hit, 'bad_verification_code', 'The code passed is incorrect or expired.')
    const token = randomUUID()
    secrets.add(token)
    tokens.set(token, grant.person)
    return answer(hit, { access_token: token, scope: 'read:user,user:email', token_type: 'bearer' })
  }

  /** Checks the client by the body, or by a header that is compared without decoding, as in glewlwyd. */
  function isClient(hit: Hit): boolean {
    const { clientId, clientSecret } = registration
    const form = formOf(hit)
    if (hit.headers.get('authorization') === `Basic ${btoa(`${clientId}:${clientSecret}`)}`) return true
    return form.get('client_id') === clientId && form.get('client_secret') === clientSecret
  }

  /** Person of a request, by its code or its token. */
  function personOf(hit: Hit): string | undefined {
    return (
      codes.get(formOf(hit).get('code') ?? '')?.person ??
      tokens.get(/^(?:Bearer|token) (.+)$/i.exec(hit.headers.get('authorization') ?? '')?.[1] ?? '')
    )
  }

  function withToken(hit: Hit, of: (person: string) => unknown): Uint8Array {
    const person = personOf(hit)
    if (!hit.headers.has('user-agent')) return forbidden
    return person === undefined ? reply(401, '{"message":"Bad credentials"}') : reply(200, JSON.stringify(of(person)))
  }

  function stop(): Promise<void> {
    upstream.stop()
    return Promise.resolve()
  }

  return {
    url,
    secrets,
    config: { provider: 'github', base_url: url },
    profile: profileOf,
    async approve(browser, address, person) {
      const page = await browser.visit(`${address}&${new URLSearchParams({ person }).toString()}`)
      if (page.location === undefined) throw new Error(`${page.status} at ${page.url}:\n${page.text}`)
      return page.location
    },
    asked: (place) => asked.filter((each) => each.place === place).map(({ hit }) => hit),
    use: (place, person, script) => void scripts.set(`${place} ${person}`, script),
    heal() {
      scripts.clear()
      asked.length = 0
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const forbidden = reply(
  403,
  'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
  { 'content-type': 'text/plain' },
)

function answering(answered: (exchange: Exchange) => Uint8Array): Script {
  return (exchange) => exchange.write(answered(exchange))
}

/** Fields of a posted form; none for other requests. */
function formOf(hit: Hit): URLSearchParams {
  return new URLSearchParams(new TextDecoder().decode(hit.body))
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/** Answer of the token endpoint: a form, unless the request accepts JSON. */
function answer(hit: Hit, fields: Readonly<Record<string, string>>): Uint8Array {
  const isJson = (hit.headers.get('accept') ?? '').includes('application/json')
  return isJson
    ? reply(200, JSON.stringify(fields))
    : reply(200, new URLSearchParams(fields).toString(), { 'content-type': 'application/x-www-form-urlencoded' })
}

function refusal(hit: Hit, error: string, description: string): Uint8Array {
  return answer(hit, { error, error_description: description, error_uri: 'https://docs.github.com/apps/oauth' })
}

/** Profile of a person. GitHub's ids are numbers. */
function profileOf(person: string): Readonly<Record<string, unknown>> {
  const id = createHash('sha256').update(person).digest().readUInt32BE()
  return {
    login: person,
    id,
    node_id: `U_${id}`,
    name: null,
    avatar_url: `https://avatars.example/u/${id}?v=4`,
    email: null,
    type: 'User',
  }
}

/** Email addresses, which the profile lacks: an unverified one, one that is not primary, and the right one. */
function addressesOf(person: string): readonly unknown[] {
  return [
    { email: `${person}@old.example`, primary: false, verified: true, visibility: null },
    { email: `${person}@new.example`, primary: true, verified: true, visibility: 'private' },
    { email: `${person}@unverified.example`, primary: false, verified: false, visibility: null },
  ]
}

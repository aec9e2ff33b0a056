import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose'

/** A key pair of an issuer. */
export interface IssuerKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

export async function issuerKey(kid: string, alg = 'RS256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Signs claims for an hour from now. @param claims override `iat` and `exp` */
export function signed(key: IssuerKey, claims: JWTPayload, header: object = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  return new SignJWT({ iat: now, exp: now + 3_600, ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
    .sign(key.privateKey)
}

/** What GitHub puts into the tokens of a workflow (docs.github.com, OpenID Connect reference). */
export const githubClaims = {
  sub: 'repo:acme/app:ref:refs/heads/main',
  repository: 'acme/app',
  repository_id: '74',
  repository_owner: 'acme',
  repository_owner_id: '65',
  ref: 'refs/heads/main',
  environment: 'prod',
  job_workflow_ref: 'acme/app/.github/workflows/ci.yml@refs/heads/main',
  event_name: 'push',
}

/** What Kubernetes puts into the projected token of a service account. Its audience is a list. */
export const kubernetesClaims = {
  sub: 'system:serviceaccount:search:indexer',
  'kubernetes.io': { namespace: 'search', serviceaccount: { name: 'indexer', uid: '1' } },
}

/** What Google puts into the identity token of a service account. */
export const googleClaims = {
  sub: '113774264463038321964',
  azp: '113774264463038321964',
  email: 'indexer@acme.iam.gserviceaccount.com',
  email_verified: true,
}

/** An issuer that answers as Discovery says, with its keys of now. */
export interface TokenIssuer extends Disposable {
  readonly url: string
  keys: readonly JWK[]
  /** Answers in place of both documents. */
  answer: ((path: string) => Response | undefined) | undefined
  /** Paths that were asked. */
  readonly asked: string[]
}

export function tokenIssuer(keys: readonly JWK[]): TokenIssuer {
  const asked: string[] = []
  const issuer: TokenIssuer = {
    url: '',
    keys,
    answer: undefined,
    asked,
    [Symbol.dispose]: () => void server.stop(true),
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      const { url } = issuer
      const answer = issuer.answer?.(pathname)
      if (answer !== undefined) return answer
      if (request.method !== 'GET') return new Response('', { status: 405 })
      if (pathname === '/.well-known/openid-configuration')
        return Response.json({ issuer: url, jwks_uri: `${url}/keys`, response_types_supported: ['id_token'] })
      return pathname === '/keys' ? Response.json({ keys: issuer.keys }) : new Response('', { status: 404 })
    },
  })
  return Object.assign(issuer, { url: `http://127.0.0.1:${server.port}` })
}

// npm's oidc-provider with its strict defaults: `oidc-provider.mjs CLIENT_ID REDIRECT_URI…`. CLIENT_SECRET is
// the secret, TOKEN_AUTH_METHOD the way it is sent. Prints {"port":N}.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const [clientId, ...redirectUris] = process.argv.slice(2)
const server = createServer()
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address()

/** The user name of id `id-ada` is `ada`, so that tests can distinguish ids and user names. */
function accountOf(sub) {
  const name = sub.replace(/^id-/, '')
  return {
    accountId: sub,
    claims: () => ({
      sub,
      preferred_username: name,
      name: `${name} Ä. Lovelace`,
      picture: `https://pictures.example/${name}.png`,
      email: `${name}@mail.example`,
    }),
  }
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      client_secret: process.env.CLIENT_SECRET,
      redirect_uris: redirectUris,
      token_endpoint_auth_method: process.env.TOKEN_AUTH_METHOD,
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: 'tests' }] },
  cookies: { keys: [randomBytes(16).toString('hex')] },
  claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'picture'], email: ['email'] },
  findAccount: (_, sub) => accountOf(sub),
  pkce: { required: () => true },
  ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
})

/** Prints a value that must not be logged. */
function tell(value) {
  if (typeof value === 'string') console.log(JSON.stringify({ secret: value }))
}
provider.on('grant.success', ({ oidc, body }) =>
  [oidc.body?.code_verifier, body?.access_token, body?.id_token].forEach(tell),
)
provider.on('grant.error', ({ oidc }) => tell(oidc?.body?.code_verifier))

server.on('request', provider.callback())
console.log(JSON.stringify({ port }))

// npm's oauth2-mock-server with faults in its answers. Prints {"port":N}. POST /fault sets the faults, GET /asked
// returns its requests.
import { createServer } from 'node:http'
import { OAuth2Issuer, OAuth2Service } from 'oauth2-mock-server'

const issuer = new OAuth2Issuer()
await issuer.keys.generate('RS256')
const service = new OAuth2Service(issuer)
const people = new Map(),
  asked = {}
let faults = {}

function changed(place, value) {
  const { set = {}, remove = [] } = faults[place] ?? {}
  return Object.fromEntries(Object.entries({ ...value, ...set }).filter(([name]) => !remove.includes(name)))
}

function tell(value) {
  if (typeof value === 'string' && value.length > 8) console.log(JSON.stringify({ secret: value }))
}

service.on('beforeAuthorizeRedirect', ({ url }, { query }) => {
  people.set(url.searchParams.get('code'), query.person)
  const parameters = changed('redirect', Object.fromEntries(url.searchParams))
  url.search = new URLSearchParams(parameters).toString()
})

service.on('beforeTokenSigning', (token, { body }) => {
  token.payload.sub = `id-${people.get(body.code)}`
  // The access token is signed as well: only it has a scope.
  if ('scope' in token.payload) return
  token.header = changed('idTokenHeader', token.header)
  token.payload = changed('idToken', token.payload)
})

service.on('beforeResponse', (response, { body }) => {
  tell(body.code_verifier)
  tell(response.body.access_token)
  people.set(response.body.access_token, people.get(body.code))
  const [header, payload, signature] = response.body.id_token.split('.')
  if (faults.signature === 'none')
    response.body.id_token = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
  if (faults.signature === 'wrong')
    response.body.id_token = `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  response.body = changed('token', response.body)
  response.statusCode = faults.token?.status ?? response.statusCode
})

service.on('beforeUserinfo', (response, { headers }) => {
  const person = people.get(headers.authorization?.replace(/^Bearer /, ''))
  const claims = {
    sub: `id-${person}`,
    preferred_username: person,
    name: `${person} Doe`,
    picture: `https://pictures.example/${person}.png`,
    email: `${person}@mail.example`,
  }
  response.body = changed('userinfo', claims)
  response.statusCode = faults.userinfo?.status ?? response.statusCode
})

/** Path → endpoint. */
const places = {
  '/.well-known/openid-configuration': 'discovery',
  '/jwks': 'keys',
  '/authorize': 'authorize',
  '/token': 'token',
  '/userinfo': 'userinfo',
}

async function discovery(response) {
  const document = await (await fetch(`${issuer.url}/.well-known/openid-configuration?plain`)).json()
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(changed('discovery', document)))
}

async function body(request) {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

async function answer(request, response) {
  const place = places[request.url.split('?')[0]]
  const plain = faults[place]?.answer
  if (request.url === '/asked') response.end(JSON.stringify(asked))
  else if (request.url === '/fault') {
    faults = JSON.parse(await body(request))
    for (const name of Object.keys(asked)) delete asked[name]
    response.end()
  } else {
    if (!request.url.endsWith('?plain')) asked[place] = (asked[place] ?? 0) + 1
    if (plain !== undefined)
      response
        .writeHead(plain.status ?? 200, { 'content-type': 'application/json', ...plain.headers })
        .end(plain.body ?? '')
    else if (place === 'discovery' && !request.url.endsWith('?plain')) await discovery(response)
    else service.requestHandler(request, response)
  }
}

const server = createServer((request, response) => void answer(request, response))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address()
issuer.url = `http://127.0.0.1:${port}`
console.log(JSON.stringify({ port }))

import { parseAccess } from '../../src/config/file/parse-access.ts'
import { TokenVerifier } from '../../src/people/keys/token/verify-token.ts'
import { githubClaims, issuerKey, signed } from '../../test/fakes/token-issuer.ts'
import type { Findings } from '../load/load-report.ts'

const issuer = 'https://issuer.example.org'
const audience = 'https://svc.example.org'
const tokens = 1_000
const repeats = 20

/** CPU time of recognising a token (JWT) of each algorithm in this process, for the first time and then again. */
export async function tokenCosts(): Promise<Findings> {
  const found: { alg: string; new: number; known: number }[] = []
  for (const alg of ['RS256', 'ES256', 'EdDSA']) found.push({ alg, ...(await costsOf(alg)) })
  const [dearestNew, dearestKnown] = [
    Math.max(...found.map((each) => each.new)),
    Math.max(...found.map(({ known }) => known)),
  ]
  return {
    rows: found.map((each) => [
      `a JWT, ${each.alg}: new; known`,
      `${each.new.toFixed(0)} µs; ${each.known.toFixed(2)} µs`,
    ]),
    targets: [
      { name: 'a new JWT: 400 µs at most', found: `${dearestNew.toFixed(0)} µs`, isMet: dearestNew <= 400 },
      { name: 'a known JWT: 2 µs at most', found: `${dearestKnown.toFixed(2)} µs`, isMet: dearestKnown <= 2 },
    ],
    complaints: [],
  }
}

async function costsOf(alg: string): Promise<{ readonly new: number; readonly known: number }> {
  const key = await issuerKey('one', alg)
  const token = { issuer, audience, claims: { sub: githubClaims.sub } }
  const { keys = [] } = parseAccess(JSON.stringify({ keys: [{ name: 'ci', token }] }), 'access.json')
  const verifier = new TokenVerifier({
    fileKeys: () => keys,
    now: Date.now,
    elapsedMs: () => performance.now(),
    warn: () => undefined,
    fetch: async (url) =>
      Response.json(url.endsWith('configuration') ? { issuer, jwks_uri: `${issuer}/keys` } : { keys: [key.jwk] }),
  })
  const made = await Promise.all(
    Array.from({ length: 2 * tokens }, (_, jti) =>
      signed(key, { iss: issuer, aud: audience, ...githubClaims, jti: String(jti) }),
    ),
  )
  const [warmUp, measured] = [made.slice(0, tokens), made.slice(tokens)]
  for (const text of warmUp) await verifier.keyOf(text)
  const ofNew = await cpuUs(async () => {
    for (const text of measured) await verifier.keyOf(text)
  })
  // Each request has a text of its own.
  const sent = Array.from({ length: repeats }, () =>
    measured.map((text) => Buffer.from(text).toString('latin1')),
  ).flat()
  const ask = async (): Promise<void> => {
    for (const text of sent) if (verifier.takes(text)) void verifier.keyOf(text)
  }
  await ask()
  const ofKnown = await cpuUs(ask)
  return { new: ofNew / measured.length, known: ofKnown / sent.length }
}

async function cpuUs(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return user + system
}

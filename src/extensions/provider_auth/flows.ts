import { setBackMsMost, type Store, type StoreOptions } from '../../stores/store.ts'
import { WireError } from '../../wire/error.ts'
import { isRecord } from '../../wire/json-value.ts'
import { hasBrowserMark } from './browser.ts'
import { onlyValue, parseCookies, serialiseCookie, type Cookies } from './cookies.ts'
import type { CallbackParameters, FlowSecrets, IdentityProvider } from './identity-provider.ts'
import { areEqualHashes, hashOf, randomToken } from './random-token.ts'

/** Ten minutes (docs/sign-in.md). */
const lifeMs = 600_000
/** Flow cookies of one browser, so that its requests do not grow until servers refuse them. */
const cookiesMost = 5
/** Flow cookies deleted with one answer. */
const deletionsMost = 20

/** A sign-in under way, as it is kept under the hash of its state. */
export interface Flow {
  readonly secrets: FlowSecrets
  /** SHA-256 of the cookie that binds it to the browser in which it began. */
  readonly cookieHash: string
  /** Unix milliseconds. */
  readonly created: number
  /** At which identity provider. */
  readonly realm: string
}

/** How flows are kept: a minute's worth of one client's, and of all of them what fits into some megabytes. */
export const flowStoreOptions: StoreOptions<Flow> = { ttlMs: lifeMs, most: 20_000, mostEach: 200, parse: parseFlow }

function parseFlow(value: unknown): Flow | undefined {
  if (!isRecord(value) || !isRecord(value['secrets'])) return undefined
  const {
    secrets: { codeVerifier, nonce },
    cookieHash,
    created,
    realm,
  } = value
  if (typeof cookieHash !== 'string' || typeof created !== 'number' || typeof realm !== 'string') return undefined
  const secrets = {
    ...(typeof codeVerifier === 'string' ? { codeVerifier } : {}),
    ...(typeof nonce === 'string' ? { nonce } : {}),
  }
  return { secrets, cookieHash, created, realm }
}

/** Why a state does not count: for the log, not for whoever sent it. */
export class StateRefused extends Error {
  override readonly name = 'StateRefused'
}

/** Sign-ins between their start and their callback. */
export interface Flows {
  /** Begins one. @param client whom it counts for @throws what the identity provider throws */
  begin(
    identityProvider: IdentityProvider,
    visit: { readonly request: Request; readonly client: string },
  ): Promise<{ readonly url: string; readonly setCookies: readonly string[] }>
  /**
   * Uses a state up, and gives what was kept with it. One that is shown by another browser than the one it was made for
   * stays as it is.
   *
   * @throws {WireError} 400 `invalid_state`, with a {@link StateRefused} as its cause
   */
  redeem(parameters: CallbackParameters, request: Request): Promise<FlowSecrets>
  /** `Set-Cookie` that ends the cookie of a flow. */
  forgetting(state: string): string
  /** What {@link redeem} throws, for a callback that shows no state at all. */
  refusal(reason: string): WireError
}

/** What {@link flows} needs. */
export interface FlowsOptions {
  readonly store: Store<Flow>
  /** Unix milliseconds. */
  now(): number
  /** Where callbacks arrive: what began in a browser at another address cannot end here. */
  readonly ownOrigin: string
  /** Flows that began at another identity provider count for nothing. */
  readonly realm: string
}

/** Flows in a store: states are used once, within ten minutes, in the browser they were made for (docs/sign-in.md). */
export function flows({ store, now, ownOrigin, realm }: FlowsOptions): Flows {
  const isSecure = ownOrigin.startsWith('https:')
  const prefix = isSecure ? '__Host-svc_flow_' : 'svc_flow_'
  const advice = `Begin again. A sign-in ends within ten minutes, in the browser it began in, at ${ownOrigin} and no other address; and the browser must keep cookies.`

  function refusal(reason: string): WireError {
    return new WireError(400, 'invalid_request_error', 'invalid_state', 'Invalid state parameter', {
      advice,
      cause: new StateRefused(reason),
    })
  }

  // A cookie of its own for each flow, so that two tabs do not overwrite each other's.
  const cookieOf = (key: string): string => `${prefix}${key.slice(0, 8)}`
  const deletion = (name: string): string => serialiseCookie({ name, value: '', maxAgeSeconds: 0, isSecure })

  function excess(cookies: Cookies): readonly string[] {
    // Browsers send the oldest first (RFC 6265 section 5.4).
    const ours = [...cookies.keys()].filter(
      (name) => name.startsWith(prefix) && /^[A-Za-z0-9_-]{8}$/.test(name.slice(prefix.length)),
    )
    return ours.slice(0, Math.min(deletionsMost, Math.max(0, ours.length - (cookiesMost - 1))))
  }

  function faultOf(flow: Flow | undefined, key: string, request: Request): string | undefined {
    if (flow === undefined) return 'it is unknown, used up or older than ten minutes'
    const ageMs = now() - flow.created
    if (ageMs >= lifeMs || ageMs < -setBackMsMost) return 'it is older than ten minutes'
    if (flow.realm !== realm) return 'it was made for another identity provider'
    if (!hasBrowserMark(request)) return undefined
    const proof = onlyValue(parseCookies(request.headers.get('cookie')), cookieOf(key))
    if (proof === undefined) return 'the cookie of its flow is missing'
    return areEqualHashes(hashOf(proof), flow.cookieHash) ? undefined : 'the cookie of its flow is another'
  }

  return {
    async begin(identityProvider, { request, client }) {
      const [state, proof] = [randomToken(), randomToken()]
      const { url, secrets } = await identityProvider.begin(state)
      const key = hashOf(state)
      await store.set(key, { secrets, cookieHash: hashOf(proof), created: now(), realm }, client)
      const own = serialiseCookie({ name: cookieOf(key), value: proof, maxAgeSeconds: lifeMs / 1000, isSecure })
      return { url, setCookies: [own, ...excess(parseCookies(request.headers.get('cookie'))).map(deletion)] }
    },

    async redeem({ state }, request) {
      const key = hashOf(state)
      const flow = await store.get(key)
      const fault = faultOf(flow, key, request)
      if (fault !== undefined) throw refusal(fault)
      const taken = await store.take(key)
      if (taken === undefined) throw refusal('another callback has used it in the same moment')
      return taken.secrets
    },

    forgetting: (state) => deletion(cookieOf(hashOf(state))),
    refusal,
  }
}

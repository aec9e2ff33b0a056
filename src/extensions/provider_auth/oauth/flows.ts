import { isRecord } from '../../../base/json-value.ts'
import { WireError } from '../../../formats/error.ts'
import { setBackMsMax, type Store, type StoreOptions } from '../../../stores/store.ts'
import { looksLikeBrowser } from '../session/browser.ts'
import { onlyValue, parseCookies, serialiseCookie, type Cookies } from '../session/cookies.ts'
import { areEqualHashes, hashOf, randomToken } from '../session/random-token.ts'
import type { CallbackParameters, FlowSecrets, IdentityProvider } from './identity-provider.ts'

/** Ten minutes (docs/sign-in.md). */
const flowTtlMs = 600_000
/** Flow cookies kept in one browser; more would make its request headers too large. */
const cookiesMax = 5
/** Flow cookies deleted by one response. */
const deletionsMax = 20

/** A sign-in in progress, stored under the hash of its state. */
export interface Flow {
  readonly secrets: FlowSecrets
  /** SHA-256 of the cookie that binds the flow to the browser that started it. */
  readonly cookieHash: string
  /** Unix milliseconds. */
  readonly created: number
  /** Identifies the identity provider. */
  readonly realm: string
  /** The sign-in goes on at the page of agents, with this code of an agent or none (''). */
  readonly device?: string
}

/** Bounds of the flow store: some megabytes in all, and more per client than one minute's requests. */
export const flowStoreOptions: StoreOptions<Flow> = {
  ttlMs: flowTtlMs,
  valuesMax: 20_000,
  valuesPerOwnerMax: 200,
  parse: parseFlow,
}

function parseFlow(value: unknown): Flow | undefined {
  if (!isRecord(value) || !isRecord(value['secrets'])) return undefined
  const {
    secrets: { codeVerifier, nonce },
    cookieHash,
    created,
    realm,
    device,
  } = value
  if (typeof cookieHash !== 'string' || typeof created !== 'number' || typeof realm !== 'string') return undefined
  const secrets = {
    ...(typeof codeVerifier === 'string' ? { codeVerifier } : {}),
    ...(typeof nonce === 'string' ? { nonce } : {}),
  }
  return { secrets, cookieHash, created, realm, ...(typeof device === 'string' ? { device } : {}) }
}

/** Cause of an `invalid_state` error. Its message is for the log only. */
export class StateError extends Error {
  override readonly name = 'StateError'
}

/** Sign-ins between their start and their callback. */
export interface Flows {
  /** Starts a flow, stored as one of `client`. @throws {WireError} from {@link IdentityProvider.begin} */
  begin(
    identityProvider: IdentityProvider,
    context: {
      readonly request: Request
      readonly client: string
      readonly asksWho?: boolean
      readonly device?: string | undefined
    },
  ): Promise<{ readonly url: string; readonly setCookies: readonly string[] }>
  /**
   * Redeems a state, which works once, and returns the flow's secrets and where the sign-in goes on. A request from
   * another browser is refused and does not use the state up.
   *
   * @throws {WireError} 400 `invalid_state`, with a {@link StateError} as its cause
   */
  redeem(parameters: CallbackParameters, request: Request): Promise<Pick<Flow, 'secrets' | 'device'>>
  /** `Set-Cookie` header that deletes the flow's cookie. */
  cookieDeletion(state: string): string
  /** The error of {@link redeem}, also for a callback without a usable state. */
  invalidState(reason: string): WireError
}

export interface FlowsOptions {
  readonly store: Store<Flow>
  /** Unix milliseconds. */
  now(): number
  /** Origin of the callback address; a browser must start the flow at the same origin. */
  readonly ownOrigin: string
  /** Identifies the identity provider; flows of another one are invalid. */
  readonly realm: string
}

/** Flows in a store. A state is valid once, for ten minutes, in the browser that started the flow (docs/sign-in.md). */
export function flows({ store, now, ownOrigin, realm }: FlowsOptions): Flows {
  const isSecure = ownOrigin.startsWith('https:')
  const prefix = isSecure ? '__Host-svc_flow_' : 'svc_flow_'
  const advice =
    `Start again at ${ownOrigin}, with cookies enabled, and complete the sign-in within ten minutes ` +
    `in the same browser. Other addresses of this service do not work.`

  function invalidState(reason: string): WireError {
    return new WireError(400, 'invalid_request_error', 'invalid_state', 'Invalid state parameter', {
      advice,
      cause: new StateError(reason),
    })
  }

  // Each flow has its own cookie, so that two tabs do not overwrite each other's.
  const cookieOf = (key: string): string => `${prefix}${key.slice(0, 8)}`
  const deletion = (name: string): string => serialiseCookie({ name, value: '', maxAgeSeconds: 0, isSecure })

  function rejectionReason(flow: Flow | undefined, key: string, request: Request): string | undefined {
    if (flow === undefined) return 'the state is unknown, used or expired'
    const ageMs = now() - flow.created
    if (ageMs >= flowTtlMs || ageMs < -setBackMsMax) return 'the state is expired'
    if (flow.realm !== realm) return 'the state belongs to another identity provider'
    if (!looksLikeBrowser(request)) return undefined
    const proof = onlyValue(parseCookies(request.headers.get('cookie')), cookieOf(key))
    if (proof === undefined) return 'the flow cookie is missing'
    return areEqualHashes(hashOf(proof), flow.cookieHash) ? undefined : 'the flow cookie does not match'
  }

  return {
    async begin(identityProvider, { request, client, asksWho, device }) {
      const [state, proof] = [randomToken(), randomToken()]
      const { url, secrets } = await identityProvider.begin(state, asksWho)
      const key = hashOf(state)
      const flow = { secrets, cookieHash: hashOf(proof), created: now(), realm }
      await store.set(key, device === undefined ? flow : { ...flow, device }, client)
      const own = serialiseCookie({ name: cookieOf(key), value: proof, maxAgeSeconds: flowTtlMs / 1000, isSecure })
      return {
        url,
        setCookies: [own, ...oldCookies(prefix, parseCookies(request.headers.get('cookie'))).map(deletion)],
      }
    },

    async redeem({ state }, request) {
      const key = hashOf(state)
      const flow = await store.get(key)
      const reason = rejectionReason(flow, key, request)
      if (reason !== undefined) throw invalidState(reason)
      const taken = await store.take(key)
      if (taken === undefined) throw invalidState('another callback has just used the state')
      return taken
    },

    cookieDeletion: (state) => deletion(cookieOf(hashOf(state))),
    invalidState,
  }
}

/** Cookies of flows that are deleted, so that few are left. */
function oldCookies(prefix: string, cookies: Cookies): readonly string[] {
  // Browsers send the oldest first (RFC 6265 section 5.4).
  const ours = [...cookies.keys()].filter(
    (name) => name.startsWith(prefix) && /^[A-Za-z0-9_-]{8}$/.test(name.slice(prefix.length)),
  )
  return ours.slice(0, Math.min(deletionsMax, Math.max(0, ours.length - (cookiesMax - 1))))
}

import { pick } from '../../client.ts'
import { startNodeServer } from '../node-server.ts'
import type { FakeIdentityProvider } from './identity-provider.ts'

/** Changes of an answer: members to replace or to remove, and its status. */
export interface Change {
  readonly set?: Readonly<Record<string, unknown>>
  readonly remove?: readonly string[]
  readonly status?: number
  /** Replaces the whole answer. */
  readonly answer?: {
    readonly status?: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
}

/** Faults of the server, by the endpoints and tokens of the flow. */
export interface MockFaults {
  readonly discovery?: Change
  readonly keys?: Change
  /** Parameters of the callback. */
  readonly redirect?: Change
  readonly token?: Change
  /** Claims of the id_token. */
  readonly idToken?: Change
  readonly idTokenHeader?: Change
  readonly userinfo?: Change
  /** Signature of the id_token: algorithm `none`, or an invalid one. */
  readonly signature?: 'none' | 'wrong'
}

/** An endpoint of the server. */
export type MockPlace = 'discovery' | 'keys' | 'authorize' | 'token' | 'userinfo'

/** npm's oauth2-mock-server: OpenID Connect without forms, which accepts everything and has configurable faults. */
export interface MockServer extends FakeIdentityProvider {
  readonly issuer: string
  /** Replaces its faults (`{}`: none), and clears its requests. */
  fault(faults: MockFaults): Promise<void>
  /** Number of requests at an endpoint since the last `fault`. */
  asked(place: MockPlace): Promise<number>
}

/** Starts the server. A person `ada` has the id `id-ada` there. */
export async function startMockServer(): Promise<MockServer> {
  const server = await startNodeServer(new URL('./mock-server.mjs', import.meta.url))
  return {
    issuer: server.url,
    config: { issuer: server.url },
    secrets: server.secrets,
    async approve(browser, url, person) {
      const page = await browser.visit(`${url}&${new URLSearchParams({ person }).toString()}`)
      if (page.location === undefined) throw new Error(`${page.status} at ${page.url}:\n${page.text}`)
      return page.location
    },
    async fault(faults) {
      await fetch(`${server.url}/fault`, { method: 'POST', body: JSON.stringify(faults) })
    },
    async asked(place) {
      return Number(pick(await (await fetch(`${server.url}/asked`)).json(), place) ?? 0)
    },
    stop: server.stop,
    [Symbol.asyncDispose]: server.stop,
  }
}

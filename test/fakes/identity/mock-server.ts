import { pick } from '../../client.ts'
import { startNodeServer } from '../node-server.ts'
import type { FakeIdentityProvider } from './identity-provider.ts'

/** Members to put in place of others, or to leave out, and another status. */
export interface Change {
  readonly set?: Readonly<Record<string, unknown>>
  readonly remove?: readonly string[]
  readonly status?: number
  /** This, instead of anything it would say. */
  readonly answer?: {
    readonly status?: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
}

/** What it gets wrong. Each member is a place in the flow. */
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
  /** Of the id_token: `none` by its algorithm, or one that does not fit. */
  readonly signature?: 'none' | 'wrong'
}

/** A place that can be asked. */
export type MockPlace = 'discovery' | 'keys' | 'authorize' | 'token' | 'userinfo'

/** npm's oauth2-mock-server: OpenID Connect without forms, which accepts everything and errs as it is told. */
export interface MockServer extends FakeIdentityProvider {
  readonly issuer: string
  /** Puts these faults in place of those before; `{}`: it is well. Forgets what it was asked. */
  fault(faults: MockFaults): Promise<void>
  /** How often a place was asked since the last `fault`. */
  asked(place: MockPlace): Promise<number>
}

/** Starts it. A person `ada` has the id `id-ada` there. */
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

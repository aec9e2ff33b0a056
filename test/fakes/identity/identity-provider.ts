import type { Browser } from '../browser.ts'

/** What an identity provider knows of the service: registered by its owner beforehand. */
export interface Registration {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
}

/** An identity provider to test against. `await using` stops it. */
export interface FakeIdentityProvider extends AsyncDisposable {
  /** The members of config.json that lead to it. */
  readonly config: Readonly<Record<string, unknown>>
  /** Codes, tokens and verifiers that it has seen: no log may hold them. */
  readonly secrets: Iterable<string>
  /**
   * Signs `person` in there, beginning at the authorization address that the service redirected to.
   *
   * @returns the callback's address, which is not asked for
   */
  approve(browser: Browser, url: string, person: string): Promise<string>
  stop(): Promise<void>
}

/** The person who signs in unless a test names another. */
export const ada = 'ada'

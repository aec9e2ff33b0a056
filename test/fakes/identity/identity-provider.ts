import type { Browser } from '../browser.ts'

/** Registration of the service at an identity provider. */
export interface Registration {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
}

/** An identity provider to test against. `await using` stops it. */
export interface FakeIdentityProvider extends AsyncDisposable {
  /** Members of config.json for this provider. */
  readonly config: Readonly<Record<string, unknown>>
  /** Codes, tokens and verifiers so far, which must not be logged. */
  readonly secrets: Iterable<string>
  /**
   * Signs `person` in at the provider, from the authorization address of the service's redirect.
   *
   * @returns address of the callback, which is not requested
   */
  approve(browser: Browser, url: string, person: string): Promise<string>
  stop(): Promise<void>
}

/** Person who signs in by default. */
export const ada = 'ada'

import type { Browser, Page } from '../browser.ts'
import { startNodeServer } from '../node-server.ts'
import type { FakeIdentityProvider, Registration } from './identity-provider.ts'

/** npm's oidc-provider: strict OpenID Connect with forms for login and consent. */
export interface OidcProvider extends FakeIdentityProvider {
  /** `http://127.0.0.1:PORT` */
  readonly issuer: string
  /** Like `approve`, but cancels at the login form. */
  refuse(browser: Browser, url: string): Promise<string>
}

/** Starts the provider with one client. A person `ada` has the id `id-ada` there. */
export async function startOidcProvider(
  { clientId, clientSecret, redirectUri }: Registration,
  tokenAuthMethod = 'client_secret_post',
): Promise<OidcProvider> {
  const server = await startNodeServer(new URL('./oidc-provider.mjs', import.meta.url), [clientId, redirectUri], {
    CLIENT_SECRET: clientSecret,
    TOKEN_AUTH_METHOD: tokenAuthMethod,
  })

  async function approve(browser: Browser, url: string, person: string): Promise<string> {
    let page = await browser.follow(await browser.visit(url), redirectUri)
    // A browser that has signed in before gets only the form of consent, or none.
    for (let forms = 0; page.location === undefined && forms < 2; forms++) {
      const { action, prompt } = formOf(page)
      const fields = prompt === 'login' ? { prompt, login: `id-${person}`, password: 'any' } : { prompt }
      page = await browser.follow(await browser.visit(action, { form: fields }), redirectUri)
    }
    return callbackIn(page)
  }

  return {
    issuer: server.url,
    config: { issuer: server.url },
    secrets: server.secrets,
    approve,
    async refuse(browser, url) {
      const page = await browser.follow(await browser.visit(url), redirectUri)
      const cancel = /<a href="([^"]+\/abort)">/.exec(page.text)?.[1]
      if (cancel === undefined) throw new Error(`no way to cancel:\n${page.text}`)
      return callbackIn(await browser.follow(await browser.visit(cancel), redirectUri))
    },
    stop: server.stop,
    [Symbol.asyncDispose]: server.stop,
  }
}

function formOf(page: Page): { readonly action: string; readonly prompt: string } {
  const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1],
    prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1]
  if (action === undefined || prompt === undefined)
    throw new Error(`${page.status} at ${page.url} shows no form:\n${page.text}`)
  return { action, prompt }
}

function callbackIn(page: Page): string {
  if (page.location === undefined) throw new Error(`${page.status} at ${page.url} does not lead back:\n${page.text}`)
  return page.location
}

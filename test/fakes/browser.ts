import { cookieJar } from './cookie-jar.ts'
import type { CookieJar } from './cookie-jar.ts'

/** What a browser was shown. Redirects are not followed. */
export interface Page {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Where it redirects to, as an absolute address. */
  readonly location: string | undefined
}

/** How a page is asked for. */
export interface Visit {
  /** Fields of a form: they are posted. */
  readonly form?: Readonly<Record<string, string>>
  readonly method?: string
  /** Added to, and in place of, what a browser sends. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A person's browser: a cookie jar, and the headers of a navigation. */
export interface Browser {
  readonly jar: CookieJar
  /** Asks for a page. */
  visit(url: string, visit?: Visit): Promise<Page>
  /**
   * Asks for a page and goes where it redirects, until a page is shown or the next address would begin with `until`,
   * which is not asked for.
   */
  follow(page: Page, until: string): Promise<Page>
}

/** What sets one browser apart from the next. */
export interface BrowserOptions {
  /** The authority that it trusts, as PEM. */
  readonly authority?: string
  /** Told of every page. */
  readonly onPage?: (page: Page) => void
  /** Replaces the marks of a browser: a script sends none. */
  readonly headers?: Readonly<Record<string, string>>
}

const redirectsMost = 12

/** What Chromium sends with a navigation that a person begins. */
export const navigation: Readonly<Record<string, string>> = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-user': '?1',
}

/** A browser that has been nowhere yet. */
export function openBrowser({ authority, onPage, headers = navigation }: BrowserOptions = {}): Browser {
  const jar = cookieJar()

  async function visit(
    url: string,
    { form, method = form === undefined ? 'GET' : 'POST', headers: more = {} }: Visit = {},
  ): Promise<Page> {
    const cookie = jar.header(url)
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(cookie === undefined ? {} : { cookie }), ...more },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      ...(authority === undefined ? {} : { tls: { ca: authority } }),
    })
    jar.store(url, response.headers)
    const location = response.headers.get('location')
    const page: Page = {
      url,
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    }
    onPage?.(page)
    return page
  }

  async function follow(first: Page, until: string): Promise<Page> {
    let page = first
    for (let redirects = 0; page.location !== undefined && !page.location.startsWith(until); redirects++) {
      if (redirects === redirectsMost) throw new Error(`no end of redirects at ${page.url}`)
      page = await visit(page.location)
    }
    return page
  }

  return { jar, visit, follow }
}

import { cookieJar, type CookieJar } from './cookie-jar.ts'

/** An answer in a browser. Redirects are not followed. */
export interface Page {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Target of a redirect, as an absolute address. */
  readonly location: string | undefined
}

/** Parameters of a request. */
export interface Visit {
  /** Fields of a form, which is posted. */
  readonly form?: Readonly<Record<string, string>>
  readonly method?: string
  /** Headers in addition to, or instead of, those of the browser. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A person's browser: a cookie jar, and the headers of a navigation. */
export interface Browser {
  readonly jar: CookieJar
  /** Requests a page. */
  visit(url: string, visit?: Visit): Promise<Page>
  /**
   * Follows the redirects of a page, until a page is shown or the next address begins with `until`, which is not
   * requested.
   */
  follow(page: Page, until: string): Promise<Page>
}

/** Options of {@link openBrowser}. */
export interface BrowserOptions {
  /** Trusted certificate authority, as PEM. */
  readonly authority?: string
  /** Called with every page. */
  readonly onPage?: (page: Page) => void
  /** Replaces the headers of a navigation, for instance with those of a script. */
  readonly headers?: Readonly<Record<string, string>>
}

const redirectsMax = 12

/** Headers of Chromium for a navigation by its user. */
export const navigation: Readonly<Record<string, string>> = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-user': '?1',
}

/** Opens a browser without cookies. */
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
      if (redirects === redirectsMax) throw new Error(`no end of redirects at ${page.url}`)
      page = await visit(page.location)
    }
    return page
  }

  return { jar, visit, follow }
}

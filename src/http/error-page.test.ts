import { describe, expect, test } from 'bun:test'
import { WireError } from '../formats/error.ts'
import { errorPage, wantsPage } from './server.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' }

describe('an error', () => {
  test.each([
    ['a navigation', '/auth/provider', browser, true],
    ['a navigation of an old browser', '/auth/provider', { accept: 'text/html' }, true],
    ['a script’s request', '/auth/session', { accept: 'text/html', 'sec-fetch-mode': 'cors' }, false],
    ['curl', '/auth/session', { accept: '*/*' }, false],
    ['a client without Accept', '/auth/session', {}, false],
  ])('is a page for a browser that navigates: %s', (_name, path, headers, expected) => {
    expect(wantsPage(new Request(`http://x${path}`, { headers }))).toBe(expected)
  })

  test('as a page has its status, message, advice and a link to the start', async () => {
    const response = errorPage(
      new WireError(400, 'invalid_request_error', 'invalid_state', 'Invalid state parameter', {
        advice: 'Begin again.',
      }),
      'id-1',
    )
    expect(response.status).toBe(400)
    const page = await response.text()
    expect(page).toContain('<h1>Invalid state parameter</h1>')
    expect(page).toContain('<p>Begin again.</p>')
    expect(page).toContain('<a href="/">')
    expect(page).toContain('request id-1')
  })

  test('as a page follows the language of the browser, if the error has it', async () => {
    const { wayOn, ...german } = { message: 'Verweigert', advice: 'Fragen Sie <Ada>.', wayOn: 'Anders anmelden' }
    const error = new WireError(403, 'permission_error', 'access_denied', 'Access Denied', {
      wayOn: { path: '/auth/provider', text: 'Sign in as someone else' },
      translations: { de: { ...german, wayOn } },
    })
    const pageFor = (language: string) => errorPage(error, 'id-1', new Headers({ 'accept-language': language })).text()
    const page = await pageFor('de-AT, en;q=0.5')
    for (const text of ['<html lang="de">', '<h1>Verweigert</h1>', 'Sie &#60;Ada&#62;.', `>${wayOn}</a>`, 'Zurück'])
      expect(page).toContain(text)
    expect(await pageFor('fr, en;q=0.5')).toContain('<h1>Access Denied</h1>')
    expect(page).not.toContain('Access Denied')
  })

  test('as a page has no scripts, frames or caching', () => {
    const { headers } = errorPage(
      new WireError(401, 'authentication_error', 'invalid_session', 'x', { headers: { 'set-cookie': 'a=b' } }),
      'id-1',
    )
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    )
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'set-cookie': 'a=b',
    })
  })

  test('as a page shows markup as text', async () => {
    const page = await errorPage(
      new WireError(400, 'invalid_request_error', 'invalid_state', '<script>"\'&'),
      'id-1',
    ).text()
    expect(page).not.toContain('<script>')
    expect(page).toContain('&#60;script&#62;&#34;&#39;&#38;')
  })
})

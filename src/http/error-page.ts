import type { WireError } from '../wire/error.ts'
import { errorHeaders } from './exchange.ts'

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.5rem }
  small { opacity: .7 }
`
const policy = `default-src 'none'; style-src 'sha256-${new Bun.CryptoHasher('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Whether an error is to be a page: a browser navigates, and not to the API, whose errors are always JSON. */
export function wantsPage(request: Request, path: string): boolean {
  if (path === '/v1' || path.startsWith('/v1/')) return false
  const mode = request.headers.get('sec-fetch-mode')
  return (mode === null || mode === 'navigate') && (request.headers.get('accept') ?? '').includes('text/html')
}

/**
 * An error as a small static page: its message, what to do, and a way back. Nothing of the request stands in it but its
 * id.
 */
export function errorPage(error: WireError, id: string): Response {
  const advice = error.advice === undefined ? '' : `\n<p>${escapeHtml(error.advice)}</p>`
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(error.message)}</title>
<style>${style}</style>
<main>
<h1>${escapeHtml(error.message)}</h1>${advice}
<p><a href="/">Back to the start</a></p>
<p><small>${error.status} ${escapeHtml(error.code)} · request ${escapeHtml(id)}</small></p>
</main>
</html>
`
  return new Response(body, {
    status: error.status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      ...errorHeaders(error, id),
    },
  })
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

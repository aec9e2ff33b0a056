import type { WireError } from '../formats/error.ts'
import { errorHeaders } from './error-response.ts'

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.5rem }
  small { opacity: .7 }
`
const styleHash = new Bun.CryptoHasher('sha256').update(style).digest('base64')
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Whether a browser navigates: outside of the API, an error is a page then. */
export function wantsPage(request: Request): boolean {
  const mode = request.headers.get('sec-fetch-mode')
  return (mode === null || mode === 'navigate') && (request.headers.get('accept') ?? '').includes('text/html')
}

/** An error as a small static page: message, advice and a link to the start. Of the request it shows only the id. */
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

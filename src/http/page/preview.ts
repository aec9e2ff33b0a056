import type { HandlerContext } from '../handler-context.ts'
import type { Route } from '../route.ts'

// The document shows what the page that frames it sends. A window that is not framed is its own parent, so other
// websites cannot have their content shown at this address. Parsed apart, elements that load something load nothing.
const script = `
addEventListener('message', ({ data, origin, source }) => {
  if (source !== parent || parent === window || origin !== location.origin) return
  const shown = new DOMParser().parseFromString(data, 'text/html')
  for (const each of shown.querySelectorAll('script, link, meta, base, iframe, frame, object, embed')) each.remove()
  document.documentElement.replaceWith(shown.documentElement)
  new ResizeObserver(([{ target }]) => parent.postMessage(target.getBoundingClientRect().height, origin))
    .observe(document.documentElement)
})
`
const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Preview</title>
<script>${script}</script>
</html>
`

// It has an origin of its own (`sandbox` without `allow-same-origin`), so no cookies and no storage, and runs no other
// script. It cannot leave its frame either: the policy of the page restricts frames to this service.
const policy = [
  "default-src 'none'",
  `script-src 'sha256-${new Bun.CryptoHasher('sha256').update(script).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  'media-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ')

/** The route of the document in which the page shows HTML and SVG of answers (docs/decisions/0022-rich-answers.md). */
export function previewRoute(): Route {
  return { method: 'GET', path: '/preview', isPublic: true, handle: preview }
}

function preview({ id }: HandlerContext): Response {
  return new Response(body, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-dns-prefetch-control': 'off',
      'x-request-id': id,
    },
  })
}

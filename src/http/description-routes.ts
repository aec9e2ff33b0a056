import { isRecord } from '../base/json-value.ts'
import { descriptionPage, descriptionStyle } from './description-page.ts'
import type { HandlerContext } from './handler-context.ts'
import type { Route } from './route.ts'

/** A file, and the ETag of its text. */
interface Text {
  readonly text: string
  readonly etag: string
}

/**
 * `GET /openapi.json` and `GET /openapi`: the description of the API, and the same as a page. Public: they are part of
 * svc and say nothing of this installation (docs/decisions/0037-the-description-of-the-api.md).
 */
export function descriptionRoutes(): readonly Route[] {
  const texts = new Map<string, Promise<Text>>()
  return [
    { method: 'GET', path: '/openapi.json', isPublic: true, handle: (context) => answer(context, 'application/json') },
    { method: 'GET', path: '/openapi', isPublic: true, handle: (context) => answer(context, 'text/html') },
  ]

  async function answer({ request, id }: HandlerContext, type: 'application/json' | 'text/html'): Promise<Response> {
    const found = texts.get(type) ?? written(type)
    texts.set(type, found)
    const { text, etag } = await found
    const headers = {
      ...{ etag, 'cache-control': 'no-cache', 'content-security-policy': policy, 'x-frame-options': 'DENY' },
      ...{ 'referrer-policy': 'no-referrer', 'cross-origin-resource-policy': 'same-origin', 'x-request-id': id },
    }
    if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
    return new Response(text, { headers: { ...headers, 'content-type': `${type}; charset=utf-8` } })
  }
}

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${new Bun.CryptoHasher('sha256').update(descriptionStyle).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Loaded for the first request: most services never get one. */
async function written(type: string): Promise<Text> {
  const { default: document } = await import('../../schema/openapi.json', { with: { type: 'json' } })
  const description: unknown = document
  const text = type === 'text/html' && isRecord(description) ? descriptionPage(description) : JSON.stringify(document)
  return { text, etag: `"${Bun.hash(text).toString(36)}"` }
}

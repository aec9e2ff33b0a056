import { WireError } from '../../formats/error.ts'
import { errorResponse } from '../error-response.ts'
import type { HandlerContext } from '../handler-context.ts'
import { notFound, type Route } from '../route.ts'

/** One file of the page, in each content coding. */
export interface PageFile {
  /** Media type. */
  readonly type: string
  readonly plain: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
  readonly brotli: Uint8Array<ArrayBuffer>
}

/** The built page (scripts/build-web.ts), in memory. */
export interface PageFiles {
  /** By language, the default first. */
  readonly indexes: ReadonlyMap<string, PageFile>
  /** By path, such as `/assets/main-HASH.js`. The content of a path never changes. */
  readonly assets: ReadonlyMap<string, PageFile>
  /** Extension → language → path of its page part. */
  readonly parts: ReadonlyMap<string, Readonly<Record<string, string>>>
}

export interface PageOptions {
  /** Resolves when the page is built; `undefined`: the build failed. */
  readonly files: () => Promise<PageFiles | undefined>
  /** Whether images of other sites may be shown, for avatars. */
  readonly hasAvatars: () => boolean
}

const assetsPath = '/assets/'
/** The service worker of the installed page answers for all paths (web/install/offline-worker.ts). */
const offlineWorkerPath = `${assetsPath}offline-worker-`
const immutable = 'public, max-age=31536000, immutable'

/** The handler of the page at `/` (docs/decisions/0008-the-page.md), and the route of its assets. */
export function pageRoutes({ files, hasAvatars }: PageOptions): {
  readonly front: (context: HandlerContext) => Promise<Response>
  readonly routes: readonly Route[]
} {
  async function front({ request, id }: HandlerContext): Promise<Response> {
    const page = await files()
    if (page === undefined) return errorResponse(notBuilt(), id)
    const index = page.indexes.get(languageOf(request.headers, [...page.indexes.keys()]))
    if (index === undefined) return errorResponse(notBuilt(), id)
    return fileResponse(index, request, {
      'cache-control': 'no-cache',
      'content-security-policy': policy(hasAvatars()),
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), microphone=(self), geolocation=()',
      'referrer-policy': 'no-referrer',
      vary: `accept, accept-encoding, ${languageHeaders}`,
      'x-frame-options': 'DENY',
      'x-request-id': id,
    })
  }

  async function asset({ request, path, id }: HandlerContext): Promise<Response> {
    const file = (await files())?.assets.get(path)
    if (file === undefined) throw notFound(path)
    return fileResponse(file, request, {
      'cache-control': immutable,
      'x-request-id': id,
      ...(path.startsWith(offlineWorkerPath) ? { 'service-worker-allowed': '/' } : {}),
    })
  }

  return { front, routes: [{ method: 'GET', path: assetsPath, isPublic: true, handle: asset }] }
}

/** Content security policy: only files of this service become script or style (docs/decisions/0008-the-page.md). */
function policy(hasAvatars: boolean): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${hasAvatars ? ' https:' : ''}`,
    "connect-src 'self'",
    // Previews (preview.ts). It keeps their scripts from leading the frame to another site.
    "frame-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // Its one policy allows one path: that of the service worker (web/install/install.ts).
    'trusted-types offline',
  ].join('; ')
}

function fileResponse(file: PageFile, request: Request, headers: Readonly<Record<string, string>>): Response {
  const { coding, bytes } = formFor(file, request.headers.get('accept-encoding') ?? '')
  const etag = `"${Bun.hash(bytes).toString(36)}"`
  const all = { vary: 'accept-encoding', ...headers, etag }
  if (isKnown(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: all })
  return new Response(bytes, {
    headers: { ...all, 'content-type': file.type, ...(coding === undefined ? {} : { 'content-encoding': coding }) },
  })
}

function isKnown(given: string | null, etag: string): boolean {
  return given !== null && given.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)
}

/** The smallest form that the client accepts (RFC 9110 section 12.5.3); `q=0` excludes a coding. */
function formFor(
  { plain, gzip, brotli }: PageFile,
  accepted: string,
): { readonly coding?: string; readonly bytes: Uint8Array<ArrayBuffer> } {
  const accepts = (coding: string): boolean =>
    new RegExp(`(?:^|,)\\s*${coding}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[^,]*)?(?:,|$)`, 'i').test(accepted)
  if (accepts('br')) return { coding: 'br', bytes: brotli }
  return accepts('gzip') ? { coding: 'gzip', bytes: gzip } : { bytes: plain }
}

function notBuilt(): WireError {
  return new WireError(
    503,
    'overloaded_error',
    'page_not_built',
    'The page is not built; the API works. The log says why',
  )
}

/** More of a header is not read. `svc-language` is the cookie of a choice on the page (web/app/language.ts). */
const rangesMax = 50

/**
 * The language of the page for a request: that of its cookie, else the first of `Accept-Language` that exists, also as
 * a variant such as `de-AT` (RFC 9110 section 12.5.4).
 *
 * @param languages the languages that exist, the default first
 */
export function languageOf(headers: Headers, languages: readonly string[]): string {
  const chosen = /(?:^|;)\s*svc-language=([a-z]{2,3})\s*(?:;|$)/.exec(headers.get('cookie') ?? '')?.[1]
  const found = languages.find((each) => each === chosen) ?? preferred(headers.get('accept-language') ?? '', languages)
  return found ?? languages[0] ?? 'en'
}

/** Request headers that {@link languageOf} reads, for `Vary`. */
export const languageHeaders = 'accept-language, cookie'

function preferred(accepted: string, languages: readonly string[]): string | undefined {
  let best: string | undefined,
    weight = 0
  for (const range of accepted.split(',', rangesMax)) {
    const [, tag = '', given = '1'] =
      /^\s*([a-z]{2,3})(?:-[a-z0-9-]+)?\s*(?:;\s*q=(\d(?:\.\d{0,3})?))?\s*$/i.exec(range) ?? []
    const language = tag.toLowerCase()
    if (Number(given) > weight && languages.includes(language)) [best, weight] = [language, Number(given)]
  }
  return best
}

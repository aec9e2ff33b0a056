import { describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { pageNamer } from './name-page.ts'
import type { PageFile, PageFiles } from './page-files.ts'

function fileOf(text: string, type: string): PageFile {
  const bytes = new TextEncoder().encode(text)
  return { type, plain: bytes, gzip: bytes, brotli: bytes }
}

const page: PageFiles = {
  indexes: new Map([
    [
      'en',
      fileOf(
        '<title>svc</title><meta name="application-name" content="svc"><link href="/assets/app-1.webmanifest">',
        'text/html; charset=utf-8',
      ),
    ],
    ['de', fileOf('<html lang="de"><title>svc</title>', 'text/html; charset=utf-8')],
  ]),
  assets: new Map([['/assets/app-1.webmanifest', fileOf('{"id":"/","name":"svc"}', 'application/manifest+json')]]),
  parts: new Map(),
}
const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

describe("the service's name in the page", () => {
  test('is that of the build without a configured one: the files stay as they are', async () => {
    expect(await pageNamer()(page, undefined)).toBe(page)
    expect(await pageNamer()(page, 'svc')).toBe(page)
  })

  test.each(['The Lab', `</title><script>alert("1")</script>&amp;'`, '$& $1 $`', '👩‍🚀 مختبر "x"'])(
    '%j is text in title and manifest',
    async (name) => {
      const { indexes, assets } = await pageNamer()(page, name)
      const index = indexes.get('en')
      const html = textOf(index?.plain)
      const titles: string[] = []
      let link = ''
      await new HTMLRewriter()
        .on('title', { text: ({ text }) => void titles.push(text) })
        .on('meta', { element: (meta) => void titles.push(meta.getAttribute('content') ?? '') })
        .on('link', { element: (each) => void (link = each.getAttribute('href') ?? '') })
        .on('script', { element: () => expect.unreachable() })
        .transform(new Response(html))
        .text()
      const escaped = name.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
      expect(titles.join('')).toBe(escaped + escaped)
      expect(JSON.parse(textOf(assets.get(link)?.plain))).toEqual({ id: '/', name, short_name: name })
      expect(link).not.toBe('/assets/app-1.webmanifest')
      expect([gunzipSync(index?.gzip ?? ''), brotliDecompressSync(index?.brotli ?? '')].map(String)).toEqual([
        html,
        html,
      ])
    },
  )

  test('is written once for each name and build', async () => {
    const nameOf = pageNamer()
    const first = await nameOf(page, 'A')
    expect(await nameOf(page, 'A')).toBe(first)
    expect(await nameOf({ ...page }, 'A')).not.toBe(first)
    for (const language of ['en', 'de'])
      expect(textOf((await nameOf(page, 'B')).indexes.get(language)?.plain)).toContain('<title>B</title>')
  })
})

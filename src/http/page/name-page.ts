import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { escapeHtml } from '../../base/escape-html.ts'
import { isRecord } from '../../base/json-value.ts'
import type { PageFile, PageFiles } from './page-files.ts'

/** The name that the build writes into the page (web/index.html, scripts/build-web.ts). */
const builtName = 'svc'
const decoder = new TextDecoder()
const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/**
 * Gives a function that writes the service's name into the built page: title and `application-name` of `/`, and the
 * manifest of the installed page, under an address of its own. The last result is kept.
 */
export function pageNamer(): (page: PageFiles, name: string | undefined) => Promise<PageFiles> {
  let latest: { readonly page: PageFiles; readonly name: string; readonly named: Promise<PageFiles> } | undefined
  return async (page, name = builtName) => {
    if (name === builtName) return page
    if (latest?.page !== page || latest.name !== name) latest = { page, name, named: namePage(page, name) }
    return latest.named
  }
}

async function namePage(page: PageFiles, name: string): Promise<PageFiles> {
  const assets = new Map(page.assets),
    indexes = new Map<string, PageFile>()
  for (const [language, index] of page.indexes) indexes.set(language, await nameIndex(index, name, assets))
  return { ...page, indexes, assets }
}

/** Names one `/`, and adds its manifest to the assets. */
async function nameIndex(index: PageFile, name: string, assets: Map<string, PageFile>): Promise<PageFile> {
  let html = decoder
    .decode(index.plain)
    .replace(`<title>${builtName}</title>`, () => `<title>${escapeHtml(name)}</title>`)
    .replace(`name="application-name" content="${builtName}"`, (all) =>
      all.replace(`"${builtName}"`, () => `"${escapeHtml(name)}"`),
    )
  const [path = ''] = /\/assets\/[\w.-]+\.webmanifest/.exec(html) ?? []
  const manifest = assets.get(path)
  const content: unknown = manifest === undefined ? undefined : JSON.parse(decoder.decode(manifest.plain))
  if (manifest !== undefined && isRecord(content)) {
    const text = JSON.stringify({ ...content, name, short_name: name })
    const namedPath = `/assets/app-${Bun.hash(text).toString(36)}.webmanifest`
    assets.set(namedPath, await fileOf(manifest.type, text))
    html = html.replace(path, () => namedPath)
  }
  return fileOf(index.type, html)
}

async function fileOf(type: string, text: string): Promise<PageFile> {
  const plain = new TextEncoder().encode(text)
  const [zipped, packed] = await Promise.all([gzipped(plain), brotli(plain)])
  return { type, plain, gzip: new Uint8Array(zipped), brotli: new Uint8Array(packed) }
}

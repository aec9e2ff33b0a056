import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buildPage, readPage } from '../src/app/page/page-build.ts'
import type { PageFile } from '../src/http/page/page-files.ts'
import { listedExtensions } from './listed-extensions.ts'

/** `npm run build`: builds `svc` as one executable. Argument: its path (default: dist/svc). */

const root = join(import.meta.dir, '..')
const outfile = process.argv[2] ?? join(root, 'dist', 'svc')

/** Builds the page as a module that contains the bytes of its files. */
async function pageModule(): Promise<string> {
  await buildPage()
  const { indexes, assets, parts } = await readPage(join(root, 'dist', 'web'))
  const written = ({ type, plain, gzip, brotli }: PageFile): string =>
    `{ type: ${JSON.stringify(type)}, ${Object.entries({ plain, gzip, brotli })
      .map(([name, bytes]) => `${name}: bytes('${bytes.toBase64()}')`)
      .join(', ')} }`
  const writtenAll = (files: ReadonlyMap<string, PageFile>): string =>
    `new Map([${Array.from(files, ([path, file]) => `[${JSON.stringify(path)}, ${written(file)}]`).join(', ')}])`
  return `
const bytes = (text) => Uint8Array.fromBase64(text)
export const page = {
  indexes: ${writtenAll(indexes)},
  assets: ${writtenAll(assets)},
  parts: new Map(${JSON.stringify([...parts])}),
}
`
}

const loadPage = `
let page
export const embeddedPage = () => (page ??= import('svc:page').then((files) => files.page))
`

/** Builds the ledger's thread as a module that contains its code: the executable has no file for a thread. */
async function threadModule(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'src', 'ledger', 'use', 'use-thread.ts')],
    target: 'bun',
    minify: { whitespace: true, syntax: true, identifiers: false },
  })
  const [code = ''] = await Promise.all(outputs.map((output) => output.text()))
  return `
const code = ${JSON.stringify(code)}
export const threadFile = () => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
`
}

const page = await pageModule()
const thread = await threadModule()
await mkdir(dirname(outfile), { recursive: true })
const built = await Bun.build({
  entrypoints: [join(root, 'src', 'main.ts')],
  compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  minify: { whitespace: true, syntax: true, identifiers: false },
  // Code that a start does not need is parsed when it is imported.
  splitting: true,
  sourcemap: 'inline',
  plugins: [
    listedExtensions,
    {
      name: 'built in',
      setup(build) {
        build.onLoad({ filter: /[/\\]app[/\\]page[/\\]embedded-page\.ts$/ }, () => ({
          contents: loadPage,
          loader: 'js',
        }))
        build.onResolve({ filter: /^svc:page$/ }, ({ path }) => ({ path, namespace: 'svc' }))
        build.onLoad({ filter: /./, namespace: 'svc' }, () => ({ contents: page, loader: 'js' }))
        build.onLoad({ filter: /[/\\]ledger[/\\]use[/\\]thread-file\.ts$/ }, () => ({ contents: thread, loader: 'js' }))
      },
    },
  ],
})
if (!built.success) {
  for (const message of built.logs) console.error(String(message))
  process.exit(1)
}
const { size } = await stat(outfile)
console.log(`${outfile} (${Math.round(size / 1_048_576)} MiB)`)

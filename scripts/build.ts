import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buildPage, readPage } from '../src/app/page/page-build.ts'
import type { PageFile } from '../src/http/page/page-files.ts'
import { listedExtensions } from './listed-extensions.ts'

/** `npm run build`: builds `svc` as one executable. Argument: its path (default: dist/svc). */

const root = join(import.meta.dir, '..')

/** What an executable is made for; without it, for the Bun that builds it. */
interface Target {
  readonly target: Bun.Build.CompileTarget
  /** The Bun of that system and processor. */
  readonly executablePath: string
}

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

/** Builds the executable, and returns its size in bytes. @throws {Error} with the messages of the bundler */
export async function buildExecutable(outfile: string, target?: Target): Promise<number> {
  const page = await pageModule()
  const thread = await threadModule()
  await mkdir(dirname(outfile), { recursive: true })
  const built = await Bun.build({
    entrypoints: [join(root, 'src', 'main.ts')],
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false, ...target },
    minify: { whitespace: true, syntax: true, identifiers: false },
    // Code that a start does not need is parsed when it is imported.
    splitting: true,
    sourcemap: 'inline',
    throw: false,
    plugins: [listedExtensions, builtIn(page, thread)],
  })
  if (!built.success) throw new Error(built.logs.map(String).join('\n'))
  const { size } = await stat(outfile)
  return size
}

/** Puts the page and the ledger's thread into the executable. */
function builtIn(page: string, thread: string): Bun.BunPlugin {
  return {
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
  }
}

if (import.meta.main) {
  const outfile = process.argv[2] ?? join(root, 'dist', 'svc')
  const size = await buildExecutable(outfile)
  console.log(`${outfile} (${Math.round(size / 1_048_576)} MiB)`)
}

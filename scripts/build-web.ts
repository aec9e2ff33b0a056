import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { inlineTexts, languages, textsOf, textsPlugin, type Language } from './inline-texts.ts'

/**
 * Builds the page into `dist/web/`: compressed files with a hash of their content in their names, and `manifest.json`,
 * which src/app/page/page-build.ts reads. `--if-stale` builds only when the sources have changed. Another argument is
 * the target folder.
 */

/** Larger files are compressed with less effort. */
const largeBytes = 512 * 1024
const root = join(import.meta.dir, '..')
const web = join(root, 'web')
const options = process.argv.slice(2)
const given = options.find((option) => !option.startsWith('--'))
const target = given ?? join(root, 'dist', 'web')

/** Age above which a draft folder belongs to no running build. */
const leftoverMs = 10 * 60_000

/** An uncompressed file of the page. */
interface Built {
  /** Below `/assets/`. */
  readonly name: string
  readonly content: Uint8Array
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

function sourceFiles(): readonly string[] {
  const globs = [
    'web/**/*.{ts,tsx,css,html,svg,png}',
    'src/extensions/*/page-part.tsx',
    'src/extensions/*/texts/*.ts',
    'src/{base,bytes,formats}/**/*.ts',
    'package-lock.json',
    'scripts/{build-web,inline-texts}.ts',
  ]
  return globs
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])
    .filter((file) => !/\.test\.tsx?$|testing\.ts$/.test(file))
    .toSorted()
}

async function fingerprint(files: readonly string[]): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const file of files) hasher.update(`${file}\n`).update(await readFile(join(root, file)))
  return hasher.digest('hex')
}

function hashOf(content: string | Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(content).digest('hex').slice(0, 10)
}

function named(name: string, content: string | Uint8Array): Built {
  const extension = extname(name)
  return {
    name: `${basename(name, extension)}-${hashOf(content)}${extension}`,
    content: typeof content === 'string' ? Buffer.from(content) : content,
  }
}

async function bundle(
  entrypoints: readonly string[],
  format: 'esm' | 'iife',
  constants: Readonly<Record<string, string>> = {},
  plugins: Bun.BunPlugin[] = [],
): Promise<Bun.BuildOutput> {
  return Bun.build({
    entrypoints: [...entrypoints],
    root,
    target: 'browser',
    format,
    splitting: format === 'esm',
    minify: true,
    plugins,
    define: {
      'process.env.NODE_ENV': '"production"',
      ...Object.fromEntries(Object.entries(constants).map(([name, text]) => [name, JSON.stringify(text)])),
    },
    naming: { entry: '[name]-[hash].[ext]', chunk: 'chunk-[hash].[ext]' },
    metafile: true,
  })
}

/** Finds the chunk that contains a source file. @throws without one */
function chunkOf(source: string, { metafile }: Bun.BuildOutput): string {
  const found = Object.entries(metafile?.outputs ?? {}).find(([, { inputs }]) =>
    Object.keys(inputs).some((input) => input.endsWith(source)),
  )
  if (found === undefined) throw new Error(`${source} is in no chunk`)
  return basename(found[0])
}

async function asBuilt(output: Bun.BuildArtifact): Promise<Built> {
  return { name: basename(output.path), content: new Uint8Array(await output.arrayBuffer()) }
}

/** The largest sheet of styles, in bytes. */
const styleBytesMax = 60_000

/** Words of a source without its comments, since `filter` and `container` are names of classes, too. */
function wordsOf(source: string): readonly string[] {
  return source.replaceAll(/\/\*.*?\*\/|(?<=^|\s)\/\/ .*?$/gms, ' ').split(/[\s"'`]+/)
}

/** Compiles the style with Tailwind. It gets every word of the sources, and ignores other words than class names. */
async function buildStyle(files: readonly string[]): Promise<Built> {
  // Imported late: `--if-stale` must work where the page's dependencies are not installed.
  const { compile } = await import('tailwindcss')
  const path = join(web, 'style.css')
  const { build } = await compile(await readFile(path, 'utf8'), {
    base: web,
    async loadStylesheet(id, base) {
      const found = id.startsWith('.')
        ? join(base, id)
        : Bun.resolveSync(id === 'tailwindcss' ? 'tailwindcss/index.css' : id, root)
      return { path: found, base: join(found, '..'), content: await readFile(found, 'utf8') }
    },
  })
  const words = new Set<string>()
  const hasClasses = (file: string): boolean =>
    !/\.test\.tsx?$|^web\/texts\//.test(file) &&
    (file.endsWith('.tsx') || (file.startsWith('web/') && file.endsWith('.ts')))
  for (const file of files.filter(hasClasses))
    for (const word of wordsOf(await readFile(join(root, file), 'utf8'))) words.add(word)
  const folder = await mkdtemp(join(tmpdir(), 'svc-style-'))
  const draft = join(folder, 'style.css')
  try {
    await writeFile(draft, build([...words]))
    const {
      outputs: [output],
    } = await Bun.build({ entrypoints: [draft], minify: true, target: 'browser' })
    const style = new Uint8Array((await output?.arrayBuffer()) ?? new ArrayBuffer(0))
    if (style.length > styleBytesMax)
      throw new Error(
        `the sheet of styles has ${style.length} bytes, at most ${styleBytesMax}: use classes that are there, and ` +
          'left, right and rounded-r in place of start, end and rounded-e, which become six rules each',
      )
    return named('style.css', style)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Chunks that a script imports statically, directly or through other chunks. */
function staticImports(entry: Built, all: ReadonlyMap<string, Built>, found = new Set<string>()): ReadonlySet<string> {
  const text = new TextDecoder().decode(entry.content)
  for (const [, name = ''] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
    const chunk = all.get(name)
    if (chunk === undefined || found.has(name)) continue
    found.add(name)
    staticImports(chunk, all, found)
  }
  return found
}

/** The page as an app that browsers install (W3C Web Application Manifest). */
function appManifest(description: string, icon: Built, others: readonly Built[]): string {
  return JSON.stringify({
    id: '/',
    name: 'svc',
    description,
    start_url: '/',
    scope: '/',
    display: 'standalone',
    background_color: '#ffffff',
    theme_color: '#1d4ed8',
    icons: [
      { src: `/assets/${icon.name}`, type: 'image/svg+xml', sizes: 'any' },
      ...others.map(({ name }) => ({
        src: `/assets/${name}`,
        type: 'image/png',
        sizes: name.includes('192') ? '192x192' : '512x512',
        ...(name.includes('maskable') ? { purpose: 'maskable' } : {}),
      })),
    ],
  })
}

/** The page in one language. */
interface LanguageBuild {
  readonly assets: readonly Built[]
  readonly index: string
  /** Extension → path of its part. */
  readonly parts: Readonly<Record<string, string>>
}

/** What the pages of all languages share. */
interface Shared {
  readonly partPaths: readonly string[]
  readonly laterParts: ReadonlyMap<string, readonly string[]>
  readonly first: Built
  readonly worker: Built
  readonly style: Built
  readonly icons: readonly Built[]
}

/** Modules before the first paint, and those of the chat, the most frequent view. */
const firstPaint = join(web, 'app', 'open-page.tsx')
const history = join(web, 'history', 'open-history.ts'),
  chat = join(web, 'chat', 'chat-page.ts')

/** Parts that the page may need before the chat, besides those of extensions. */
const beforeChat = [
  history,
  join(web, 'history', 'server', 'open-synced-history.tsx'),
  join(web, 'app', 'default-sign-in.tsx'),
]

/**
 * Finds the parts of the page that load later, and the modules that the page has loaded by then. The build adds these
 * imports: modules that the same parts import become one chunk, and the page needs few downloads.
 */
async function laterPartsOf(files: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(root, file), 'utf8')
      return Array.from(text.matchAll(/\bimport\('(\.[^']+)'\)/g), ([, path = '']) => join(root, dirname(file), path))
    }),
  )
  const extensions = files.filter((file) => file.endsWith('/page-part.tsx')).map((file) => join(root, file))
  const imports = new Map<string, readonly string[]>()
  for (const path of found.flat()) imports.set(path, [firstPaint, history, chat])
  for (const path of [...beforeChat, ...extensions]) imports.set(path, [firstPaint])
  return imports.set(chat, [firstPaint, history])
}

async function buildLanguage(language: Language, shared: Shared): Promise<LanguageBuild> {
  const { partPaths, first, worker, style, laterParts } = shared
  const [icon, touchIcon, ...appIcons] = shared.icons
  if (icon === undefined || touchIcon === undefined) throw new Error('there is no icon')
  const bundled = await bundle(
    [join(web, 'main.tsx'), ...partPaths.map((path) => join(root, path))],
    'esm',
    { svcOfflineWorker: `/assets/${worker.name}` },
    [textsPlugin(language, laterParts)],
  )
  const texts = await textsOf(web, language)
  const description: unknown = JSON.parse(inlineTexts('say.page.description', texts, 'scripts/build-web.ts'))
  const manifest = named('app.webmanifest', appManifest(String(description), icon, appIcons))
  const modules = bundled.outputs
  const scripts = await Promise.all(modules.map(asBuilt))
  const entries = await Promise.all(modules.filter(({ kind }) => kind === 'entry-point').map(asBuilt))
  const [main] = entries.filter(({ name }) => name.startsWith('main-'))
  if (main === undefined) throw new Error('web/main.tsx gave nothing')
  const byName = new Map(scripts.map((script) => [script.name, script]))
  // The history and the chat are preloaded after the scripts of the first paint.
  const soon = ['web/history/open-history.ts', 'web/chat/chat-view.tsx'].map((source) => chunkOf(source, bundled))
  const atFirst = staticImports(main, byName)
  const afterwards = new Set(
    soon.flatMap((name) => [name, ...staticImports(byName.get(name) ?? main, byName)]),
  ).difference(atFirst)
  const values: Readonly<Record<string, string>> = {
    language,
    first: `/assets/${first.name}`,
    icon: `/assets/${icon.name}`,
    touchIcon: `/assets/${touchIcon.name}`,
    manifest: `/assets/${manifest.name}`,
    style: `/assets/${style.name}`,
    main: `/assets/${main.name}`,
    preload: [
      ...[...atFirst].map((name) => `<link rel="modulepreload" href="/assets/${name}">`),
      ...[...afterwards].map((name) => `<link rel="modulepreload" href="/assets/${name}" fetchpriority="low">`),
    ].join('\n'),
  }
  const template = await readFile(join(web, 'index.html'), 'utf8')
  // Parts differ only by the hash in their names; the bundler keeps the order of its entries.
  const parts = modules.filter(({ kind, path }) => kind === 'entry-point' && basename(path).startsWith('page-part-'))
  return {
    assets: [...scripts, manifest],
    index: template
      .replace(/%(\w+)%/g, (whole, name: string) => values[name] ?? whole)
      .replace(/%(say[\w.]+)%/g, (_, name: string) => String(JSON.parse(inlineTexts(name, texts, 'web/index.html')))),
    parts: Object.fromEntries(
      partPaths.map((path, index) => [path.split('/')[2] ?? '', `/assets/${basename(parts[index]?.path ?? '')}`]),
    ),
  }
}

async function buildPage(files: readonly string[]): Promise<{
  readonly assets: readonly Built[]
  readonly pages: ReadonlyMap<Language, LanguageBuild>
}> {
  const partPaths = files.filter((file) => file.endsWith('/page-part.tsx'))
  const [first, worker, style, laterParts, icons] = await Promise.all([
    buildScript('first.ts'),
    buildScript('install/offline-worker.ts'),
    buildStyle(files),
    laterPartsOf(files),
    Promise.all(
      ['icon.svg', 'icon-180.png', 'icon-192.png', 'icon-512.png', 'icon-maskable-512.png'].map(async (name) =>
        named(name, await readFile(join(web, 'install', name))),
      ),
    ),
  ])
  const pages = new Map<Language, LanguageBuild>()
  for (const language of languages)
    pages.set(language, await buildLanguage(language, { partPaths, laterParts, first, worker, style, icons }))
  const all = [first, worker, style, ...icons, ...[...pages.values()].flatMap(({ assets }) => assets)]
  // Chunks without texts are the same in all languages.
  return { assets: [...new Map(all.map((asset) => [asset.name, asset])).values()], pages }
}

/** Builds a classic script of the page. */
async function buildScript(path: string): Promise<Built> {
  const [output] = (await bundle([join(web, path)], 'iife')).outputs
  if (output === undefined) throw new Error(`web/${path} gave nothing`)
  return asBuilt(output)
}

/** Writes a file, and its compressed forms with the highest compression. */
async function writeFiles(folder: string, name: string, content: Uint8Array): Promise<void> {
  await writeFile(join(folder, name), content)
  await writeFile(
    join(folder, `${name}.br`),
    brotliCompressSync(content, {
      // The last steps take seconds for a large library, and save little.
      params: {
        [constants.BROTLI_PARAM_QUALITY]: content.length > largeBytes ? 9 : 11,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  )
  await writeFile(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
}

/** Reads the fingerprint of the sources of an existing build; `undefined`: there is no complete build. */
async function sourcesOf(folder: string): Promise<string | undefined> {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    return typeof manifest === 'object' && manifest !== null && 'sources' in manifest
      ? String(manifest.sources)
      : undefined
  } catch {
    return undefined
  }
}

/** Moves a complete build to its place. With `--if-stale` a build of the same sources by another process stays. */
async function publish(draft: string, sources: string): Promise<void> {
  if ((await sourcesOf(target)) === sources && options.includes('--if-stale')) return
  const before = `${draft}.before`
  await rename(target, before).catch(() => undefined) // There may be no earlier build.
  try {
    await rename(draft, target).catch((error: unknown) => {
      if (!existsSync(join(target, 'manifest.json'))) throw error
    })
  } finally {
    await rm(before, { recursive: true, force: true })
  }
}

/** Removes drafts of interrupted builds beside the page. */
async function removeLeftovers(): Promise<void> {
  const folder = dirname(target),
    start = `${basename(target)}.`
  const isLeftover = (name: string): boolean =>
    name.startsWith(start) && /^\d+(?:\.before)?$/.test(name.slice(start.length))
  for (const name of (await readdir(folder)).filter(isLeftover)) {
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Infinity }))
    if (mtimeMs < Date.now() - leftoverMs) await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function build(files: readonly string[], sources: string): Promise<number> {
  const { assets, pages } = await buildPage(files)
  const draft = `${target}.${process.pid}`
  await mkdir(draft, { recursive: true })
  try {
    await removeLeftovers()
    await Promise.all(
      [
        ...assets,
        ...Array.from(pages, ([language, { index }]) => ({
          name: `index-${language}.html`,
          content: Buffer.from(index),
        })),
      ].map(({ name, content }) => writeFiles(draft, name, content)),
    )
    const manifest = {
      sources,
      assets: assets.map(({ name }) => ({ name, type: types[extname(name)] })),
      pages: Object.fromEntries(
        Array.from(pages, ([language, { parts }]) => [language, { index: `index-${language}.html`, parts }]),
      ),
    }
    await writeFile(join(draft, 'manifest.json'), JSON.stringify(manifest, undefined, 2))
    await publish(draft, sources)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return assets.length
}

if (given !== undefined && existsSync(given) && !existsSync(join(given, 'manifest.json')))
  throw new Error(`${given} is there already, and is no page`)
const files = sourceFiles()
const sources = await fingerprint(files)
if (!options.includes('--if-stale') || (await sourcesOf(target)) !== sources) {
  const started = performance.now()
  const count = await build(files, sources)
  if (!options.includes('--if-stale'))
    console.log(`${target} (${count} files, ${Math.round(performance.now() - started)} ms)`)
}

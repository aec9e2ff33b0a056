import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, symlink, utimes } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { buildPage } from '../src/app/page/page-build.ts'
import { listedExtensions } from './listed-extensions.ts'

/**
 * The service of this checkout as a bundle, for tests: a start takes less than half of the CPU time of a start from
 * source, which reads and translates every module, and checks whether the page is built.
 */

const root = join(import.meta.dir, '..')
const cache = join(root, 'node_modules', '.cache')
const prefix = 'service-'
const entryPoints = ['src/main.ts', 'src/ledger/use/use-thread.ts']
/** Bundles that no test has used for so long are removed. */
const unusedMs = 60 * 60_000

/**
 * Bundles the service, and builds the page if it is stale. Returns the path of its `svc`. A bundle of the same sources
 * is used again. Stack traces name lines of the sources.
 *
 * @throws when the page or the bundle cannot be built
 */
export async function bundleService(): Promise<string> {
  const [folder] = await Promise.all([bundleFolder(), buildPage()])
  if (existsSync(folder)) {
    const now = new Date()
    await utimes(folder, now, now)
  } else {
    await removeUnused()
    await writeBundle(folder)
  }
  return join(folder, 'bin', 'svc')
}

/** Names a bundle by its sources. */
async function bundleFolder(): Promise<string> {
  const globs = [
    '{bin,client,schema,src}/**/*',
    'package.json',
    'package-lock.json',
    'scripts/{bundle-service,listed-extensions}.ts',
  ]
  const files = globs
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .toSorted()
  const hasher = new Bun.CryptoHasher('sha256')
  const contents = await Promise.all(files.map((file) => readFile(join(root, file))))
  for (const [index, file] of files.entries()) hasher.update(`${file}\n`).update(contents[index] ?? '')
  return join(cache, `${prefix}${hasher.digest('hex').slice(0, 16)}`)
}

/** Writes a bundle beside its place, and renames it: several processes may make the same one at once. */
async function writeBundle(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`
  await rm(draft, { recursive: true, force: true })
  await mkdir(join(draft, 'bin'), { recursive: true })
  await mkdir(join(draft, 'dist'))
  await Bun.build({
    entrypoints: entryPoints.map((path) => join(root, path)),
    outdir: join(draft, 'src'),
    // `bin/svc` starts src/main.ts. All files are in one folder, from which bun writes the paths in source maps.
    naming: { entry: '[name].ts' },
    target: 'bun',
    splitting: true,
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: 'linked',
    plugins: [listedExtensions, ownPlace(folder)],
  })
  for (const name of ['svc', 'with-bun']) await copyFile(join(root, 'bin', name), join(draft, 'bin', name))
  await symlink(join(root, 'dist', 'web'), join(draft, 'dist', 'web'))
  await rename(draft, folder).catch(async (error: unknown) => {
    await rm(draft, { recursive: true })
    if (!existsSync(folder)) throw error
  })
}

/** Two modules find files by their own place: the page by a folder, the thread by a file beside it. */
function ownPlace(folder: string): Bun.BunPlugin {
  return {
    name: 'own place',
    setup(build) {
      build.onLoad({ filter: /[/\\](?:page-build|thread-file)\.ts$/ }, async ({ path }) => {
        const folderInBundle = join(folder, dirname(relative(root, path)))
        const text = await readFile(path, 'utf8')
        return {
          loader: 'ts',
          contents: text
            .replaceAll('import.meta.dir', JSON.stringify(folderInBundle))
            .replaceAll('import.meta.url', JSON.stringify(Bun.pathToFileURL(join(folder, 'src', basename(path))).href)),
        }
      })
    },
  }
}

async function removeUnused(): Promise<void> {
  await mkdir(cache, { recursive: true })
  const names = (await readdir(cache)).filter((name) => name.startsWith(prefix))
  for (const path of names.map((name) => join(cache, name))) {
    const used = await stat(path).catch(() => undefined)
    if (used !== undefined && Date.now() - used.mtimeMs > unusedMs) await rm(path, { recursive: true, force: true })
  }
}

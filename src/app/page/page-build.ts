import { existsSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '../../base/json-value.ts'
import type { PageFile, PageFiles } from '../../http/page/page-files.ts'
import type { Logger } from '../../observe/log.ts'
import { embeddedPage } from './embedded-page.ts'

const root = join(import.meta.dir, '..', '..', '..')

/** Timeout of a build. */
const buildMs = 60_000
const againMs = 200
const manifestName = 'manifest.json'

/**
 * Finds the page: embedded in this program, or in `dist/web/`. Never rejects: without a page, it logs an error, and the
 * API works all the same.
 *
 * @param build rebuilds `dist/web/` if its sources have changed
 * @returns a function that returns the page's files. It reads them at its first call: most services have no visitor
 */
export async function findPage(
  log: Pick<Logger, 'error'>,
  build: () => Promise<void>,
): Promise<() => Promise<PageFiles | undefined>> {
  if (embeddedPage !== undefined) return embeddedPage
  const folder = join(root, 'dist', 'web')
  let page: Promise<PageFiles | undefined> | undefined
  function missing(error: unknown): undefined {
    log.error(`there is no page at /, only the API: run "npm install" in ${root}, then start svc again`, {
      reason: error instanceof Error ? error.message : String(error),
    })
    return undefined
  }
  function read(): Promise<PageFiles> {
    // Another process may be replacing the build right now.
    return readPage(folder).catch(() => Bun.sleep(againMs).then(() => readPage(folder)))
  }
  try {
    await build()
    await access(join(folder, manifestName)).catch(() =>
      Bun.sleep(againMs).then(() => access(join(folder, manifestName))),
    )
  } catch (error) {
    page = Promise.resolve(missing(error))
  }
  return () => (page ??= read().catch(missing))
}

/**
 * Builds the page if its sources have changed, in another process so that its memory is freed. A published package has
 * no sources and builds nothing.
 */
export async function buildPage(): Promise<void> {
  const script = join(root, 'scripts', 'build-web.ts')
  if (!existsSync(join(root, 'web', 'main.tsx')) || !existsSync(script)) return
  const build = Bun.spawn(
    [process.execPath, '--no-env-file', '--no-install', '--config=/dev/null', script, '--if-stale'],
    {
      cwd: root,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      timeout: buildMs,
    },
  )
  build.unref()
  const output = await build.stderr.text()
  if ((await build.exited) !== 0) throw new Error(`the build of the page failed: ${output.trim().slice(0, 2_000)}`)
}

/** Reads a built page. @throws when it is incomplete */
export async function readPage(folder: string): Promise<PageFiles> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, manifestName), 'utf8'))
  if (!isRecord(manifest) || !Array.isArray(manifest['assets']) || !isRecord(manifest['pages']))
    throw new Error(`${folder} is not a built page`)
  const assets = await Promise.all(
    manifest['assets'].map(async (asset: unknown): Promise<readonly [string, PageFile]> => {
      if (!isRecord(asset) || typeof asset['name'] !== 'string' || typeof asset['type'] !== 'string')
        throw new Error(`${folder} is not a built page`)
      return [`/assets/${asset['name']}`, await readFileForms(join(folder, asset['name']), asset['type'])]
    }),
  )
  const indexes = new Map<string, PageFile>()
  const parts = new Map<string, Readonly<Record<string, string>>>()
  for (const [language, page] of Object.entries(manifest['pages'])) {
    if (!isRecord(page) || typeof page['index'] !== 'string' || !isRecord(page['parts']))
      throw new Error(`${folder} is not a built page`)
    indexes.set(language, await readFileForms(join(folder, page['index']), 'text/html; charset=utf-8'))
    for (const [name, path] of Object.entries(page['parts']))
      parts.set(name, { ...parts.get(name), [language]: String(path) })
  }
  return { indexes, assets: new Map(assets), parts }
}

async function readFileForms(path: string, type: string): Promise<PageFile> {
  const [plain, brotli, gzip] = await Promise.all(
    ['', '.br', '.gz'].map(async (form) => new Uint8Array(await readFile(`${path}${form}`))),
  )
  if (plain === undefined || brotli === undefined || gzip === undefined) throw new Error(`${path} is missing`)
  return { type, plain, brotli, gzip }
}

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PageFile, PageFiles } from '../http/page-files.ts'
import type { Logger } from '../observe/log.ts'
import { isRecord } from '../wire/json-value.ts'
import { embeddedPage } from './embedded-page.ts'

const root = join(import.meta.dir, '..', '..')

/** A build that takes longer is given up. */
const buildMs = 60_000
const againMs = 200

/**
 * Finds the page: built into this program, or in `dist/web/`, which a source tree makes anew when its sources have
 * changed. Never rejects: without a page, which the log tells of, the API is served all the same.
 *
 * @param build makes it anew where that is to be done
 */
export async function findPage(log: Pick<Logger, 'error'>, build: () => Promise<void>): Promise<PageFiles | undefined> {
  if (embeddedPage !== undefined) return embeddedPage
  try {
    await build()
    const folder = join(root, 'dist', 'web')
    // Another start may be putting its own build in this place just now.
    return await readPage(folder).catch(() => Bun.sleep(againMs).then(() => readPage(folder)))
  } catch (error) {
    log.error('there is no page at /: run npm install (with its development dependencies), then npm run build:web', {
      reason: error instanceof Error ? error.message : String(error),
    })
    return undefined
  }
}

/**
 * Builds the page where that is to be done, in a process of its own: what a build takes is given back. A published
 * package has no sources of the page, and nothing to build.
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
  const complaints = await build.stderr.text()
  if ((await build.exited) !== 0) throw new Error(`the build of the page failed: ${complaints.trim().slice(0, 2_000)}`)
}

/** Reads a built page. @throws when it is not whole */
export async function readPage(folder: string): Promise<PageFiles> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
  if (!isRecord(manifest) || !Array.isArray(manifest['assets']) || !isRecord(manifest['parts']))
    throw new Error(`${folder} is not a built page`)
  const assets = await Promise.all(
    manifest['assets'].map(async (asset: unknown): Promise<readonly [string, PageFile]> => {
      if (!isRecord(asset) || typeof asset['name'] !== 'string' || typeof asset['type'] !== 'string')
        throw new Error(`${folder} is not a built page`)
      return [`/assets/${asset['name']}`, await readFileForms(join(folder, asset['name']), asset['type'])]
    }),
  )
  return {
    index: await readFileForms(join(folder, 'index.html'), 'text/html; charset=utf-8'),
    assets: new Map(assets),
    parts: new Map(Object.entries(manifest['parts']).map(([name, path]) => [name, String(path)])),
  }
}

async function readFileForms(path: string, type: string): Promise<PageFile> {
  const [plain, brotli, gzip] = await Promise.all(
    ['', '.br', '.gz'].map(async (form) => new Uint8Array(await readFile(`${path}${form}`))),
  )
  if (plain === undefined || brotli === undefined || gzip === undefined) throw new Error(`${path} is missing`)
  return { type, plain, brotli, gzip }
}

import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pick } from '../../test/client.ts'
import { startChromium, type Tab } from '../../test/fakes/chromium.ts'
import { percentile } from '../statistics.ts'
import { documents } from './stream-documents.ts'

/**
 * What an answer costs while it is streamed: 100 KB of Markdown at 200 chunks a second in a real Chromium, for a realistic answer and for the worst ones.
 * `stream.ts [NAME…]`, with `CHROMIUM` for where it is. Ends with 1 when a frame took 50 ms or more.
 */

const characters = 100_000, chunkCharacters = 50, chunksPerSecond = 200, frameMsMax = 50
const root = join(import.meta.dir, '..', '..')
const folder = await mkdtemp(join(tmpdir(), 'page-stream-'))

async function buildHarness(): Promise<void> {
  // The style is the page's own.
  const page = Bun.spawn([process.execPath, join(root, 'scripts', 'build-web.ts'), join(folder, 'page')], { stdout: 'ignore', stderr: 'inherit' })
  if (await page.exited !== 0) throw new Error('The page does not build.')
  await Bun.build({
    entrypoints: [join(import.meta.dir, 'stream-page.tsx')],
    target: 'browser',
    splitting: true,
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    outdir: join(folder, 'harness'),
  })
}

async function styleOf(folderOfPage: string): Promise<string> {
  const names = await readdir(folderOfPage, { recursive: true })
  const name = names.find((each) => /style-[^/]*\.css$/.test(each))
  if (name === undefined) throw new Error('The page has no style.')
  return readFile(join(folderOfPage, name), 'utf8')
}

function serve(style: string): Bun.Server<undefined> {
  const index = '<!doctype html><html lang="en"><link rel="stylesheet" href="/style.css"><div id="root"></div><script type="module" src="/stream-page.js"></script></html>'
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/') return new Response(index, { headers: { 'content-type': 'text/html; charset=utf-8' } })
      if (pathname === '/style.css') return new Response(style, { headers: { 'content-type': 'text/css' } })
      return pathname === '/favicon.ico' ? new Response(null, { status: 404 }) : new Response(Bun.file(join(folder, 'harness', pathname)))
    },
  })
}

function numbersOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : []
}

/** The highest value of a part of the run. */
function highest(values: readonly number[], from: number, to: number): number {
  return Math.max(0, ...values.slice(Math.floor(values.length * from), Math.ceil(values.length * to)))
}

async function measure(tab: Tab, name: string): Promise<boolean> {
  const result = await tab.evaluate(`measureStream(${JSON.stringify(name)}, ${characters}, ${chunkCharacters}, ${chunksPerSecond})`)
  const frames = numbersOf(pick(result, 'frames')), work = numbersOf(pick(result, 'work')), longTasks = numbersOf(pick(result, 'longTasks'))
  const figures = [percentile(frames, 50) ?? 0, percentile(frames, 95) ?? 0, highest(frames, 0, 1), percentile(work, 50) ?? 0, percentile(work, 95) ?? 0, highest(work, 0, 1), highest(work, 0, 0.25), highest(work, 0.65, 0.9)]
  console.log(`${name.padEnd(18)}${figures.map((figure) => figure.toFixed(1).padStart(9)).join('')}${String(longTasks.length).padStart(7)}${String(pick(result, 'elements')).padStart(9)}`)
  return highest(frames, 0, 1) < frameMsMax
}

const wanted = process.argv.slice(2)
await buildHarness()
const server = serve(await styleOf(join(folder, 'page')))
const chromium = await startChromium(process.env['CHROMIUM'] ?? '/usr/bin/chromium')
try {
  console.log(`ms                  frame p50      p95      max work p50      p95      max  first ¼   last ¼  tasks elements`)
  let isFast = true
  for (const name of wanted.length > 0 ? wanted : Object.keys(documents)) {
    const tab = chromium.person({ viewport: { width: 1280, height: 800 } }).tab()
    await tab.goto(server.url.href)
    isFast = await measure(tab, name) && isFast
  }
  process.exitCode = isFast ? 0 : 1
} finally {
  await chromium.close()
  await server.stop(true)
  await rm(folder, { recursive: true, force: true })
}

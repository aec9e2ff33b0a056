import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Serves a built part of the page by itself, with the style of the page. `await using` stops it and removes the build.
 */
export interface PartServer extends AsyncDisposable {
  readonly url: string
}

const root = join(import.meta.dir, '..', '..')

/**
 * Builds and serves a part of the page. @param name of its entry in this folder, such as `stream-page.tsx` @throws when
 * the build fails
 */
export async function servePart(name: string): Promise<PartServer> {
  const folder = await mkdtemp(join(tmpdir(), 'page-part-'))
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: answering(folder, name.replace(/\.tsx$/, '.js'), await build(folder, name)),
  })
  return {
    url: server.url.href,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** @returns the style */
async function build(folder: string, name: string): Promise<string> {
  const page = Bun.spawn([process.execPath, join(root, 'scripts', 'build-web.ts'), join(folder, 'page')], {
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if ((await page.exited) !== 0) throw new Error('The page does not build.')
  await Bun.build({
    entrypoints: [join(import.meta.dir, name)],
    target: 'browser',
    splitting: true,
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    outdir: join(folder, 'part'),
  })
  const style = (await readdir(join(folder, 'page'), { recursive: true })).find((each) =>
    /style-[^/]*\.css$/.test(each),
  )
  if (style === undefined) throw new Error('The page has no style.')
  return await readFile(join(folder, 'page', style), 'utf8')
}

function answering(folder: string, script: string, style: string): (request: Request) => Response {
  const index =
    '<!doctype html><html lang="en"><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">' +
    `<div id="root"></div><script type="module" src="/${script}"></script></html>`
  return (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/') return new Response(index, { headers: { 'content-type': 'text/html; charset=utf-8' } })
    if (pathname === '/style.css') return new Response(style, { headers: { 'content-type': 'text/css' } })
    return new Response(Bun.file(join(folder, 'part', pathname)))
  }
}

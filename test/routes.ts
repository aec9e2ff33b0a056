import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

/** A route of the service. */
export interface KnownRoute {
  readonly method: string
  /** Path as in the documents: `/v1/models/{id}`. */
  readonly path: string
}

/** Routes that the documents list: `POST /v1/chat/completions`. */
export function documentedRoutes(): readonly KnownRoute[] {
  const text = ['api.md', 'sign-in.md'].map((page) => readFileSync(join(root, 'docs', page), 'utf8')).join('\n')
  return Array.from(text.matchAll(/^\| `(GET|POST) (\/[^` ]*)` \|/gm), ([, method = '', path = '']) => ({
    method,
    path,
  }))
}

/** A path without the names of its open places: `/v1/models/{id}` is `/v1/models/`. */
export function openPathOf(path: string): string {
  return path.replace(/\{\w+\}$/, '').replace(/\{\w+\}/, '{}')
}

/** Paths of the code: the literals in its route tables. */
export function codedPaths(): readonly string[] {
  const sources = ['formats/**/*.ts', 'http/**/*.ts', 'extensions/**/*.ts']
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync(join(root, 'src'))])
    .filter((file) => !/\.test\.ts$|testing\.ts$/.test(file))
  const found = sources.flatMap((file) =>
    Array.from(
      readFileSync(join(root, 'src', file), 'utf8').matchAll(
        /\b(?:path:|\w*Path(?: =|:)) '(\/[^']*)'|'(\/[^']*\{model\}[^']*)'/g,
      ),
      ([, path, open = '']) => openPathOf(path ?? open),
    ),
  )
  return [...new Set(found)].toSorted()
}

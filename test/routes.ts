import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formats } from '../src/formats/format-list.ts'

const root = join(import.meta.dir, '..')

/** A route of the service. */
export interface KnownRoute {
  readonly method: string
  /** Path as in the documents: `/v1/models/{id}`. */
  readonly path: string
}

/** Routes that the documents list: `POST /v1/chat/completions`. */
export function documentedRoutes(): readonly KnownRoute[] {
  const text = ['api.md', 'contributing/page-api.md', 'sign-in-reference.md']
    .map((page) => readFileSync(join(root, 'docs', page), 'utf8'))
    .join('\n')
  const cells = Array.from(text.matchAll(/^\| ((?:`(?:GET|POST|DELETE) [^`]*`(?:, )?)+) \|/gm), ([, cell = '']) => cell)
  return cells.flatMap((cell) =>
    Array.from(cell.matchAll(/`(GET|POST|DELETE) (\/[^` ]*)`/g), ([, method = '', path = '']) => ({ method, path })),
  )
}

/** A path without the names of its open places: `/v1/models/{id}` is `/v1/models/`. */
export function openPathOf(path: string): string {
  return path.replace(/\{\w+\}$/, '').replace(/\{\w+\}/, '{}')
}

/** Paths of the code: those of formats, and the literals in other route tables. */
export function codedPaths(): readonly string[] {
  const sources = ['formats/**/*.ts', 'http/**/*.ts', 'extensions/**/*.ts', 'people/**/*.ts']
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync(join(root, 'src'))])
    .filter((file) => !/\.test\.ts$|testing\.ts$/.test(file))
  const literals = sources.flatMap((file) =>
    Array.from(
      readFileSync(join(root, 'src', file), 'utf8').matchAll(/\b(?:path:|\w*Path(?: =|:)) '(\/[^']*)'/g),
      ([, path = '']) => path,
    ),
  )
  const ofFormats = Object.values(formats).flatMap(({ path, otherPaths = [] }) => [path, ...otherPaths])
  return [...new Set([...literals, ...ofFormats].map(openPathOf))].toSorted()
}

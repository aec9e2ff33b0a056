import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { codeFolders, filesOf, longLines, namesExportedTwice } from '../scripts/source-figures.ts'

const root = join(import.meta.dir, '..')

interface Import {
  readonly from: string
  readonly to: string
  readonly isType: boolean
}

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)

/** Imports between files, by paths below `src/`. */
const imports: readonly Import[] = files.flatMap((from) =>
  [
    ...readFileSync(join(root, 'src', from), 'utf8').matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
    ),
  ].map(([, type, named, dynamic]) => ({
    from,
    to: normalize(join(dirname(from), named ?? dynamic ?? '')),
    isType: type !== undefined,
  })),
)

function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file
}

/** The import table of ARCHITECTURE.md: room → rooms and files that it may import, some of them as types only. */
const table = new Map(
  readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `src/'))
    .flatMap((line) => {
      const [, rooms = '', , may = ''] = line.split('|')
      const allowed = may
        .split(',')
        .map((each) => ({ name: each.replace(/\(types\)|`/g, '').trim(), isType: each.includes('(types)') }))
      return [...rooms.matchAll(/`src\/([^`]+?)\/?`/g)].map(([, room = '']) => [room, allowed] as const)
    }),
)

test('every module imports only what ARCHITECTURE.md lets it', () => {
  const trespasses = imports.filter(
    ({ from, to, isType }) =>
      roomOf(from) !== roomOf(to) &&
      !(table.get(roomOf(from)) ?? []).some(
        (allowed) =>
          allowed.name === 'everything' ||
          (allowed.name === 'everything but cli' && roomOf(to) !== 'cli') ||
          ([to, roomOf(to)].includes(allowed.name) && (isType || !allowed.isType)),
      ),
  )
  expect(trespasses.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('every module stands in the table, and every row is a module', () => {
  expect([...new Set(files.map(roomOf))].toSorted()).toEqual([...table.keys()].toSorted())
})

test('the files of the published package import only its dependencies', () => {
  const { files: patterns, dependencies } = manifest
  const left = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => new Bun.Glob(pattern.slice(1)))
  const published = [...files.map((file) => `src/${file}`), ...clientFiles].filter(
    (file) => !left.some((glob) => glob.match(file)),
  )
  const packages = published.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)\s[^'"]*?from\s+'([^.'][^']*)'/gm)].map(
      ([, name = '']) => ({ file, name }),
    ),
  )
  const isThere = (name: string) =>
    (/^(?:node|bun):/.test(name) && name !== 'bun:test') ||
    Object.hasOwn(dependencies, /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
  expect(packages.filter(({ name }) => !isThere(name)).map(({ file, name }) => `${file}: ${name}`)).toEqual([])
  expect(packages.length).toBeGreaterThan(50)
})

/** Paths from the root or from `src/`, or names of files and folders anywhere below; ends in `/` for a folder. */
const known = new Set(
  [...new Bun.Glob('{src,client,web,test,lab,bench,scripts}/**/*.{ts,tsx,mjs}').scanSync(root)].flatMap((file) =>
    file.split('/').flatMap((_, position, names) => {
      const path = `${names.slice(0, position + 1).join('/')}${position < names.length - 1 ? '/' : ''}`
      return [path, path.replace(/^src\//, ''), path.replace(/^.*\/(?=[^/]+\/?$)/, '')]
    }),
  ),
)

test.each(['ARCHITECTURE.md', ...new Bun.Glob('docs/decisions/*.md').scanSync(root)])(
  'every file and folder of the code that %s names exists',
  (document) => {
    const named = readFileSync(join(root, document), 'utf8').matchAll(
      /`((?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|mjs)|(?:src|client|web|test|lab|bench|scripts)\/(?:[\w.-]+\/)*)`/g,
    )
    expect(Array.from(named, ([, path = '']) => path).filter((path) => !known.has(path))).toEqual([])
  },
)

/** Files of the client, by path from the root. */
const clientFiles = [...new Bun.Glob('client/**/*.ts').scanSync(root)].filter((file) => !file.endsWith('.test.ts'))

const clientImports = importsOf(clientFiles)

test('the client imports of src only what ARCHITECTURE.md lets it, and src reaches it from one place', () => {
  const allowed = allowedIn('`client/`').map(({ name }) => name)
  const trespasses = clientImports.filter(
    ({ to }) => !/^(?:client\/|node:)/.test(to) && !allowed.some((name) => to === name || to.startsWith(name)),
  )
  expect(trespasses.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  const reaching = importsOf(files.map((file) => `src/${file}`)).filter(({ to }) => to.startsWith('client/'))
  expect([...new Set(reaching.map(({ from }) => from))]).toEqual(['src/cli/client-commands.ts'])
  expect(clientImports.length).toBeGreaterThan(30)
})

/** Files of the page, by path from the root: its own, and the parts that extensions bring. */
const pageFiles = ['web/**/*.{ts,tsx}', 'src/extensions/*/page-part.tsx']
  .flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])
  .filter((file) => !/\.test\.tsx?$|\/testing\.tsx?$/.test(file))

const pageImports = importsOf(pageFiles)

/** Imports of files: paths from the root, and names of packages. */
function importsOf(from: readonly string[]): readonly Import[] {
  return from.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /^(?:import|export)\s+(type\s)?(?:[^'"]*?from\s+)?'([^']+)'|import\('([^']+)'\)/gm,
      ),
    ].map(([, type, named, dynamic]) => {
      const to = named ?? dynamic ?? ''
      return {
        from: file,
        to: to.startsWith('.') ? normalize(join(dirname(file), to)) : to,
        isType: type !== undefined,
      }
    }),
  )
}

/** Allowed imports of the row of ARCHITECTURE.md that begins with `row`. */
function allowedIn(row: string): readonly { readonly name: string; readonly isType: boolean }[] {
  const line =
    readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
      .split('\n')
      .find((each) => each.startsWith(`| ${row} |`)) ?? ''
  return (line.split('|')[3] ?? '')
    .split(',')
    .map((each) => ({ name: each.replace(/\(types\)|`/g, '').trim(), isType: each.includes('(types)') }))
}

test.each([
  ['`web/`', 'web/'],
  ['`page-part.tsx` of an extension', 'src/extensions/'],
])('the page imports only what ARCHITECTURE.md lets it: %s', (row, folder) => {
  const allowed = allowedIn(row)
  const trespasses = pageImports.filter(
    ({ from, to, isType }) =>
      from.startsWith(folder) &&
      !(folder === 'web/' && to.startsWith(folder)) &&
      !to.startsWith(`${dirname(from)}/texts/`) &&
      !allowed.some(
        ({ name, isType: onlyAsType }) =>
          (to === name || to.startsWith(name.endsWith('/') ? name : `${name}/`)) && (isType || !onlyAsType),
      ),
  )
  expect(trespasses.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
  expect(allowed.length).toBeGreaterThan(1)
  expect(pageImports.length).toBeGreaterThan(50)
})

test('no file imports itself, however far round', () => {
  const next = Map.groupBy([...imports, ...clientImports, ...pageImports], ({ from }) => from)
  const done = new Set<string>(),
    cycles: string[] = []
  function walk(file: string, path: readonly string[]): void {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file) || path.includes(file)) return
    for (const { to } of next.get(file) ?? []) walk(to, [...path, file])
    done.add(file)
  }
  for (const file of [...files, ...clientFiles, ...pageFiles]) walk(file, [])
  expect(cycles).toEqual([])
  expect(imports.length).toBeGreaterThan(files.length)
})

test('no line is longer than 120 columns', () => {
  expect(longLines(filesOf(codeFolders))).toEqual([])
})

test('no two modules of src export the same name', () => {
  // Every extension exports itself under this name.
  expect(namesExportedTwice(filesOf(['src', 'client'])).filter((name) => name !== 'extension')).toEqual([])
})

test('no file of the repository is larger than 500 kB', () => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
  const large = tracked.filter((file) => (statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0) > 500_000)
  expect(large).toEqual([])
  expect(tracked.length).toBeGreaterThan(files.length)
})

import { dirname, join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { filesOf, textOf } from './source-figures.ts'

/** Lines that a function may have, with its inner functions. */
const functionLinesMax = 60
/** A file with fewer lines and one importer could be part of its importer. */
const smallFileLines = 60

/** Whether a file is only there for tests. */
export function isTest(file: string): boolean {
  return /\.test\.tsx?$|testing[^/]*$|\/fixtures\//.test(file)
}

/** The number of lines of files. */
export function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0)
}

interface Range {
  readonly start: number
  readonly end: number
}

/** Functions with more than 60 lines, such as `src/main.ts:3 61`. Inner functions count with the outer one. */
export function longFunctions(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => {
    const text = textOf(file)
    const found: Range[] = []
    const note = ({ start, end }: Range): void => {
      if (found.every((outer) => outer.end < end)) found.push({ start, end })
    }
    new Visitor({ FunctionDeclaration: note, FunctionExpression: note, ArrowFunctionExpression: note }).visit(
      parseSync(file, text).program,
    )
    const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length
    return found.flatMap(({ start, end }) => {
      const lines = lineAt(end) - lineAt(start) + 1
      return lines > functionLinesMax ? [`${file}:${lineAt(start)} ${lines}`] : []
    })
  })
}

/** Files with fewer than 60 lines that one other file imports, such as `src/a.ts 12, of src/b.ts 80`. */
export function filesOfOneUser(files: readonly string[]): readonly string[] {
  const users = new Map<string, Set<string>>()
  for (const file of files)
    for (const [, named, dynamic] of textOf(file).matchAll(/from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/g)) {
      const path = join(dirname(file), named ?? dynamic ?? '')
      users.set(path, (users.get(path) ?? new Set()).add(file))
    }
  return files.flatMap((file) => {
    const [user = '', ...more] = users.get(file) ?? []
    const lines = linesOf([file])
    if (user === '' || more.length > 0 || lines >= smallFileLines) return []
    return [`${file} ${lines}, of ${user} ${linesOf([user])}`]
  })
}

/** Entries of the widest row of allowed imports in ARCHITECTURE.md. */
export function widestImports(): number {
  const rows = textOf('ARCHITECTURE.md')
    .split('\n')
    .filter((line) => line.startsWith('| `src/'))
    .map((line) => line.split('|')[3]?.split(',').length ?? 0)
  return Math.max(...rows)
}

/** The number of words in documents, without the bars of tables and other marks. */
export function wordsOf(pattern: string): number {
  return [...new Bun.Glob(pattern).scanSync(join(import.meta.dir, '..'))].reduce(
    (sum, file) => sum + (textOf(file).match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0),
    0,
  )
}

/** Files of tests, fixtures and fakes. */
export function testFiles(): readonly string[] {
  return [...filesOf(['src', 'client', 'web', 'scripts'], isTest), ...filesOf(['test'])]
}

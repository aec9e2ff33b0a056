import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

/** Limit of a line, in code and in comments. */
export const columnsMax = 120

/** Folders with code of ours. */
export const codeFolders = ['src', 'client', 'web', 'test', 'lab', 'bench', 'scripts'] as const

/** The TypeScript files below folders, by their paths in the project. */
export function filesOf(
  folders: readonly string[],
  isWanted: (file: string) => boolean = () => true,
): readonly string[] {
  return folders
    .flatMap((folder) => [...new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scanSync(root)])
    .filter((file) => !file.includes('node_modules') && !file.startsWith('bench/peers') && isWanted(file))
    .toSorted()
}

/** The content of a file. @param file its path in the project */
export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** Places of lines over {@link columnsMax}, such as `src/main.ts:3`. */
export function longLines(files: readonly string[]): readonly string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, index) => (line.length > columnsMax ? [`${file}:${index + 1}`] : [])),
  )
}

/** Names that several modules export. Each name has one meaning in the project, so there should be none. */
export function namesExportedTwice(files: readonly string[]): readonly string[] {
  const declaration = /^export (?:async )?(?:abstract )?(?:class|const|function\*?|interface|type) (\w+)/gm
  const names = files.flatMap((file) => [
    ...new Set(Array.from(textOf(file).matchAll(declaration), ([, name = '']) => name)),
  ])
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file lacks the marks of a section, or has them more than once. */
export class NoSuchSection extends Error {
  override readonly name = 'NoSuchSection'
}

/**
 * Replaces the text between the lines `<!-- NAME: begin -->` and `<!-- NAME: end -->` of a Markdown text.
 *
 * @param name `[a-z0-9-]+`
 * @throws {NoSuchSection} unless each of the two lines is there once, in this order
 */
export function withSection(text: string, name: string, section: string): string {
  const begin = `<!-- ${name}: begin -->\n`,
    end = `<!-- ${name}: end -->\n`
  const [before, inside, ...more] = text.split(begin)
  const [, after, ...rest] = inside?.split(end) ?? []
  if (before === undefined || after === undefined || more.length > 0 || rest.length > 0)
    throw new NoSuchSection(`the lines ${begin.trim()} and ${end.trim()} must be there, once each`)
  return `${before}${begin}\n${section.trim()}\n\n${end}${after}`
}

/** Replaces a section of a file. @throws {NoSuchSection}, or when the file cannot be read or written */
export async function writeSection(file: string, name: string, section: string): Promise<void> {
  await writeFile(file, withSection(await readFile(file, 'utf8'), name, section))
}

/** A file of the project with parts that are written from data of the code. */
export interface WrittenFile {
  /** Its path in the project. */
  readonly file: string
  /** The text of the file with the current data. */
  readonly updated: (text: string) => string
}

/** Writes the parts of these files. */
export async function writeFiles(files: readonly WrittenFile[]): Promise<void> {
  for (const { file, updated } of files) {
    const path = join(import.meta.dir, '..', file)
    await writeFile(path, updated(await readFile(path, 'utf8')))
  }
}

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Extension } from './extension.ts'

/**
 * The extensions there are: each folder of this room that holds an `extension.ts`. The build puts a table of its own in
 * the place of this file.
 */
export const names: readonly string[] = readdirSync(import.meta.dir)
  .filter((name) => existsSync(join(import.meta.dir, name, 'extension.ts')))
  .toSorted()

/** Loads one of them. */
export async function load(name: string): Promise<{ readonly extension: Extension }> {
  return import(`./${name}/extension.ts`)
}

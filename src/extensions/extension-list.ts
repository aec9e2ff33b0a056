import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Extension } from './extension.ts'

/**
 * Names of all extensions: the folders beside this file that hold an `extension.ts`. `npm run build` replaces this
 * module.
 */
export const names: readonly string[] = readdirSync(import.meta.dir)
  .filter((name) => existsSync(join(import.meta.dir, name, 'extension.ts')))
  .toSorted()

/** Imports an extension. @param name one of {@link names} */
export async function load(name: string): Promise<{ readonly extension: Extension }> {
  // By the convention of this folder, every `extension.ts` exports its Extension.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return (await import(`./${name}/extension.ts`)) as { readonly extension: Extension }
}

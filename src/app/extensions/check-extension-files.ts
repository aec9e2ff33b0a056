import type { Environment } from '../../config/file/environment.ts'
import { parseExtensionFile } from '../../config/file/extension-file.ts'
import { readConfigText } from '../../config/file/read-text.ts'
import { extensionFile } from '../../config/home.ts'
import { load, names } from '../../extensions/extension-list.ts'
import { memoryStores } from '../../stores/memory.ts'
import { startWith } from './run-extension.ts'

/**
 * Checks the files of all extensions as their start does. Nothing is sent.
 *
 * @param warn receives warnings, one line each
 * @returns the paths of the files that are there
 * @throws {ConfigError} for a file with faults
 */
export async function checkExtensionFiles(
  environment: Environment,
  warn: (message: string) => void,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of names) {
    const path = extensionFile(environment, name)
    const file = await parseExtensionFile(await readConfigText(path), { file: path, environment })
    if (file === undefined) continue
    found.push(path)
    const quiet = () => undefined
    const started = await startWith((await load(name)).extension, file, {
      name,
      stores: memoryStores(Date.now),
      fetch: () => Promise.reject(new Error('nothing is sent while files are checked')),
      log: { debug: quiet, info: quiet, warn: (message) => warn(`${path}: ${message}`), error: quiet },
    })
    await started?.close?.()
  }
  return found
}

import { didYouMean } from '../../base/nearest.ts'
import { ConfigError, type Config } from '../../config/config.ts'
import type { Environment } from '../../config/file/environment.ts'
import { parseExtensionFile } from '../../config/file/extension-file.ts'
import { readConfigText } from '../../config/file/read-text.ts'
import { extensionFile } from '../../config/home.ts'
import { load, names } from '../../extensions/extension-list.ts'
import { memoryStores } from '../../stores/memory.ts'
import { startWith } from './run-extension.ts'

const moduleNames: readonly string[] = ['keys']

/** Checks the names in `auth` of providers.json. @throws {ConfigError} for a name that no extension has */
export function checkExtensionNames({ auth = [] }: Pick<Config, 'auth'>, file: string): void {
  const known = [...names, ...moduleNames].toSorted()
  const faults = auth
    .filter((name) => !known.includes(name))
    .map((name) => ({
      file,
      field: 'auth',
      found: JSON.stringify(name),
      allowed: known.join(', ') + didYouMean(name, known),
    }))
  if (faults.length > 0) throw new ConfigError(faults)
}

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

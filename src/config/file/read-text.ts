import { lstat, readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { errorCode, isMissing } from '../../base/error-code.ts'
import { ConfigError } from '../config.ts'
import { configBytesMax, tooLarge } from './parse-config.ts'

/**
 * Reads the text of a configuration file; `undefined` without a file.
 *
 * @throws {ConfigError} for a folder, an unreadable or too large file, and bytes that are not UTF-8
 */
export async function readConfigText(file: string): Promise<string | undefined> {
  let bytes: Uint8Array
  try {
    const status = await stat(file)
    const { size } = status
    // Opening a named pipe would block the process until it has a writer.
    if (!status.isFile())
      throw fileError(file, status.isDirectory() ? 'a folder' : 'a pipe, socket or device', 'a readable file')
    if (size > configBytesMax) throw new ConfigError([tooLarge(file, size)])
    bytes = await readFile(file)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    await refuseDanglingLink(file)
    if (isMissing(error)) return undefined
    const code = errorCode(error) ?? 'unknown'
    const found =
      code === 'EISDIR'
        ? 'a folder'
        : code === 'EACCES' || code === 'EPERM'
          ? 'a file without read permission'
          : `a file that cannot be read (${code})`
    throw fileError(file, found, 'a readable file')
  }
  if (bytes.length > configBytesMax) throw new ConfigError([tooLarge(file, bytes.length)])
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // The decoder does not report a position.
    throw fileError(file, 'bytes that are not UTF-8', 'text in UTF-8')
  }
}

/**
 * Refuses a path that leads nowhere through a symbolic link. A volume or secret that is not mounted yet must not count
 * as a missing file, which means no limits, or switches an extension off.
 *
 * @throws {ConfigError} if the file, or one of its folders, is a link that dangles or loops
 */
export async function refuseDanglingLink(file: string): Promise<void> {
  const last = resolve(file)
  for (let path = last; path !== dirname(path); path = dirname(path)) {
    const leads = await stat(path).catch(errorCode)
    if (typeof leads !== 'string' || !leadingNowhere.has(leads)) return
    const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true
    if (!isLink) continue
    const kind = leads === 'ELOOP' ? 'a loop of symbolic links' : 'a dangling symbolic link'
    throw fileError(file, path === last ? kind : `${kind} at ${path}`, 'a readable file, or none')
  }
}

const leadingNowhere: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

/** Makes the error of a file as a whole. */
export function fileError(file: string, found: string, allowed: string): ConfigError {
  return new ConfigError([{ file, field: '', found, allowed }])
}

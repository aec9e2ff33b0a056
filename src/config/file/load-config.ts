import { lstat, readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { errorCode, isMissing } from '../../base/error-code.ts'
import { ConfigError, type Config } from '../config.ts'
import { detectProviders, type Probe } from '../detect.ts'
import { findHome } from '../home.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { configBytesMax, parseConfig, tooLarge } from './parse-config.ts'
import type { Environment } from './resolve-provider.ts'

export interface LoadOptions {
  /**
   * The file of `--config`, which must exist. Default: `providers.json` in the home folder, which may be missing.
   */
  readonly file?: string
  readonly environment: Environment
  /** The port of this service, which is not asked for models. */
  readonly ownPort?: number
  /** Asks a local port for its models; for tests. */
  readonly probe?: Probe
  /** Receives warnings, one line each. */
  readonly warn?: (message: string) => void
}

/**
 * Loads the configuration of this machine: the file, or without a file the detected providers (docs/configuration.md).
 *
 * @throws {ConfigError} when the file cannot be used, or the named file is missing
 * @throws {HomeError} when no file is named and there is no home folder
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  return configOf(await readConfigText(fileOf(options)), options)
}

function fileOf({ file, environment }: LoadOptions): string {
  return file ?? findHome(environment).providers
}

/** As {@link loadConfig}, for the text of a file that has been read. @param text `undefined` without a file */
export async function configOf(text: string | undefined, options: LoadOptions): Promise<Config> {
  const { environment, warn } = options
  const file = fileOf(options)
  if (text === undefined) {
    if (options.file !== undefined) throw fileError(file, 'nothing', 'a configuration file, or no --config')
    return detectProviders(options)
  }
  const config = parseConfig(text, { file, environment })
  if (warn !== undefined && (await isReadableByAll(file)) && holdsLiteralSecret(text)) {
    warn(
      `${file} contains keys and every user of this machine can read it: ` +
        `run chmod 600 ${file}, or write "$NAME" instead of the key`,
    )
  }
  return { ...config, source: { kind: 'file', path: file, fingerprint: fingerprint(text) } }
}

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

function fileError(file: string, found: string, allowed: string): ConfigError {
  return new ConfigError([{ file, field: '', found, allowed }])
}

async function isReadableByAll(file: string): Promise<boolean> {
  // Windows has no permission bits and reports 0o666 for every file.
  return process.platform !== 'win32' && ((await stat(file)).mode & 0o004) !== 0
}

/** Whether the text of a valid configuration contains a key. */
function holdsLiteralSecret(text: string): boolean {
  return /"[\w-]*(?:key|token|secret|cookie|authorization)"\s*:\s*"(?!\$)/i.test(text)
}

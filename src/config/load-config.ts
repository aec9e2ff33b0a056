import { readFile, stat } from 'node:fs/promises'
import { ConfigError, type Config } from './config.ts'
import { detectProviders, type Probe } from './detect.ts'
import { errorCode, isMissing } from './error-code.ts'
import { fingerprint } from './fingerprint.ts'
import { findHome } from './home.ts'
import { configBytesMax, parseConfig, tooLarge } from './parse-config.ts'
import type { Environment } from './resolve-provider.ts'

/** How to find the configuration. */
export interface LoadOptions {
  /**
   * Named by a person (`--config`): then it must exist. Default: `providers.json` in the home folder, which may be
   * missing.
   */
  readonly file?: string
  readonly environment: Environment
  /** The port this service listens on, which is no model server. */
  readonly ownPort?: number
  /** Asks a local port for its models; for tests. */
  readonly probe?: Probe
  /** Takes what is no fault but should be known, in one line. */
  readonly warn?: (message: string) => void
}

/**
 * The configuration of this machine: the file, or without one what is found (docs/configuration.md).
 *
 * @throws {ConfigError} when the file is there but cannot be used, or a named one is missing
 * @throws {HomeError} when no file is named and there is no home folder
 */
export async function loadConfig(options: LoadOptions): Promise<Config> {
  const { environment, warn } = options
  const file = options.file ?? findHome(environment).providers
  const text = await readConfigText(file)
  if (text === undefined) {
    if (options.file !== undefined) throw fileError(file, 'nothing', 'a configuration file, or no --config')
    return detectProviders(options)
  }
  const config = parseConfig(text, { file, environment })
  if (warn !== undefined && (await isReadableByAll(file)) && holdsLiteralSecret(text)) {
    warn(
      `${file} holds keys and every user of this machine can read it: chmod 600 ${file}, or write "$NAME" instead of the key`,
    )
  }
  return { ...config, source: { kind: 'file', path: file, fingerprint: fingerprint(text) } }
}

/**
 * The text of a configuration file, `undefined` when there is none. @throws {ConfigError} for a folder, an unreadable
 * or too large file, and what is not UTF-8
 */
export async function readConfigText(file: string): Promise<string | undefined> {
  let bytes: Uint8Array
  try {
    const status = await stat(file)
    const { size } = status
    // Opening a pipe waits for its writer, and with it the whole process.
    if (!status.isFile())
      throw fileError(file, status.isDirectory() ? 'a folder' : 'something that is no regular file', 'a readable file')
    if (size > configBytesMax) throw new ConfigError([tooLarge(file, size)])
    bytes = await readFile(file)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    if (isMissing(error)) return undefined
    const code = errorCode(error) ?? 'unknown'
    const found =
      code === 'EISDIR'
        ? 'a folder'
        : code === 'EACCES' || code === 'EPERM'
          ? 'a file that this user may not read'
          : `a file that cannot be read (${code})`
    throw fileError(file, found, 'a readable file')
  }
  if (bytes.length > configBytesMax) throw new ConfigError([tooLarge(file, bytes.length)])
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // The decoder says no more than that there is a fault.
    throw fileError(file, 'bytes that are not UTF-8', 'a text in UTF-8')
  }
}

function fileError(file: string, found: string, allowed: string): ConfigError {
  return new ConfigError([{ file, field: '', found, allowed }])
}

async function isReadableByAll(file: string): Promise<boolean> {
  // Windows has no such bits and answers 0o666 for every file.
  return process.platform !== 'win32' && ((await stat(file)).mode & 0o004) !== 0
}

/** Whether a key stands in the text itself. Only for a text that has been accepted. */
function holdsLiteralSecret(text: string): boolean {
  return /"[\w-]*(?:key|token|secret|cookie|authorization)"\s*:\s*"(?!\$)/i.test(text)
}

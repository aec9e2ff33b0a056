import { stat } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { detectProviders, type Probe } from '../detect.ts'
import { findHome } from '../home.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import type { Environment } from './environment.ts'
import { readKeys, type ProviderKeys } from './key-texts.ts'
import { parseConfig } from './parse-config.ts'
import { fileError, readConfigText } from './read-text.ts'

export interface LoadOptions {
  /**
   * The file of `--config`, which must exist. Default: `providers.json` in the home folder, which may be missing.
   */
  readonly file?: string
  readonly environment: Environment
  /** Keys in files. Default: they are read once. */
  readonly keys?: ProviderKeys
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
  const { warn } = options
  const file = fileOf(options)
  const keys = options.keys ?? (await readKeys(options.environment))
  const { environment } = keys
  if (text === undefined) {
    if (options.file !== undefined) throw fileError(file, 'nothing', 'a configuration file, or no --config')
    return detectProviders({ ...options, environment })
  }
  const first = parseConfig(text, { file, environment })
  const hadUnread = await keys.read(first.providers.flatMap(({ files = [] }) => files))
  const config = hadUnread ? parseConfig(text, { file, environment }) : first
  if (warn !== undefined && (await isReadableByAll(file)) && holdsLiteralSecret(text)) {
    warn(
      `${file} contains keys and every user of this machine can read it: ` +
        `run chmod 600 ${file}, or write "$NAME" instead of the key`,
    )
  }
  return { ...config, source: { kind: 'file', path: file, fingerprint: fingerprint(text) } }
}

/** Whether every user of this machine can read a file. */
export async function isReadableByAll(file: string): Promise<boolean> {
  // Windows has no permission bits and reports 0o666 for every file.
  const status = await stat(file).catch(() => undefined)
  return process.platform !== 'win32' && status !== undefined && (status.mode & 0o004) !== 0
}

/** Whether the text of a valid configuration contains a key, or the password of a proxy. */
function holdsLiteralSecret(text: string): boolean {
  const named = /"(?:[\w-]+key|[\w-]*(?:token|secret|cookie|authorization))"\s*:\s*"(?!\$)/i
  return named.test(text) || /"proxy"\s*:\s*"[^"]*@/.test(text)
}

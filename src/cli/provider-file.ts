import { changeProvider } from '../config/change-provider.ts'
import { ConfigError, formatFault } from '../config/config.ts'
import { errorCode } from '../config/error-code.ts'
import { fingerprint } from '../config/fingerprint.ts'
import { readConfigText } from '../config/load-config.ts'
import { parseConfig, type ParseOptions } from '../config/parse-config.ts'
import type { Environment } from '../config/resolve-provider.ts'
import { ConfigChangedError, writeConfig } from '../config/write-config.ts'
import type { ProviderChange } from '../http/page-api.ts'
import { harmless } from '../observe/text.ts'
import { WireError } from '../wire/error.ts'

const faultsShownMost = 5

/** What {@link changeFile} needs to know of the file. */
export interface ProviderFileOptions {
  /** Path of providers.json. */
  readonly file: string
  readonly environment: Environment
  /** How this program is called, for advice. */
  readonly program: string
}

/** The fingerprint of the file's text; `undefined`: there is none, or it cannot be read. */
export async function fileVersion(file: string): Promise<string | undefined> {
  try {
    const text = await readConfigText(file)
    return text === undefined ? undefined : fingerprint(text)
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/**
 * Makes one change in providers.json, if it is still the one that the change was made for and the result can be used.
 *
 * @returns whether there was anything to change
 * @throws {WireError} 409 `no_file`, `conflict`, `faulty_file`, `not_writable`; 404 for an unknown provider
 */
export async function changeFile(change: ProviderChange, options: ProviderFileOptions): Promise<boolean> {
  const { file, program } = options
  const text = await readConfigText(file).catch(asFaults)
  if (text === undefined) {
    throw new WireError(
      409,
      'invalid_request_error',
      'no_file',
      `There is no ${harmless(file)}, so there is nothing to change: '${program} init' writes one`,
    )
  }
  if (fingerprint(text) !== change.version) throw conflict()
  const edited = editText(text, change, options)
  if (edited === text) return false
  await writeConfig(file, edited, change.version).catch(asRefusal)
  return true
}

/** The text with the change in it, which can be used. @throws {WireError} */
function editText(text: string, { id, change }: ProviderChange, { file, environment }: ProviderFileOptions): string {
  try {
    const edited = changeProvider(text, { file, id, edit: change })
    if (edited === undefined) throw unknownProvider()
    checkText(edited, text, { file, environment })
    return edited
  } catch (error) {
    return asFaults(error)
  }
}

/** @throws {ConfigError} with the places where the faults are now, not where they would be */
function checkText(edited: string, text: string, options: ParseOptions): void {
  try {
    parseConfig(edited, options)
  } catch (error) {
    parseConfig(text, options)
    throw error
  }
}

/** 404: there is no such provider. */
export function unknownProvider(): WireError {
  return new WireError(404, 'invalid_request_error', 'not_found', 'There is no provider of this id', { param: 'id' })
}

function conflict(): WireError {
  return new WireError(
    409,
    'invalid_request_error',
    'conflict',
    'providers.json was changed in the meantime: look at it as it is now, then change it',
  )
}

/** A file with faults is not touched. @throws always */
function asFaults(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error
  const shown = error.faults.slice(0, faultsShownMost).map(formatFault)
  const more = error.faults.length - shown.length
  const text = harmless([...shown, ...(more > 0 ? [`${more} more`] : [])].join('; '))
  throw new WireError(
    409,
    'invalid_request_error',
    'faulty_file',
    `providers.json has faults, and was left as it is: ${text}`,
    { cause: error },
  )
}

/** @throws always */
function asRefusal(error: unknown): never {
  if (error instanceof ConfigChangedError) throw conflict()
  const code = errorCode(error)
  if (code === undefined) throw error
  throw new WireError(
    409,
    'invalid_request_error',
    'not_writable',
    `providers.json cannot be written (${code}): change it by hand, or let this service's user write it and its folder`,
    { cause: error },
  )
}

import { harmless } from '../../base/shown-text.ts'
import { invalidRequest, WireError } from '../../formats/error.ts'
import type { ProviderChange, ProviderEdits, ProviderSettings } from '../../http/page/page-api.ts'
import { ConfigError, type ProviderConfig } from '../config.ts'
import type { Environment } from '../file/environment.ts'
import { parseConfig, type ParseOptions } from '../file/parse-config.ts'
import { readConfigText } from '../file/read-text.ts'
import { fingerprint } from '../watch/fingerprint.ts'
import { changePageFile, fileRefusals, type FileRecording } from './change-page-file.ts'
import { addProvider, changeProvider, providerIn, setMembers } from './change-provider.ts'
import { entryOfDraft, membersOfEdit, settingsOf } from './provider-drafts.ts'

const { asFaults, conflict } = fileRefusals('providers.json')

/** The file, and its surroundings. */
export interface ProviderFileOptions {
  /** Path of providers.json. */
  readonly file: string
  readonly environment: Environment
  /** Command name of this program, for advice. */
  readonly program: string
  /** Text of a first file, with the providers that are in use without one. */
  readonly firstText: () => string
}

/** The fingerprint of the file's text; `undefined` without a readable file. */
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
 * Makes one change in providers.json, if the file still has the expected version and the result is valid.
 *
 * @returns whether the file was changed
 * @throws {WireError} 409 `no_file`; 404 for an unknown provider; as {@link changePageFile} does
 */
export async function changeFile(
  change: ProviderChange,
  user: string | undefined,
  options: ProviderFileOptions & FileRecording,
): Promise<boolean> {
  const { file, program } = options
  return changePageFile(
    {
      file,
      version: change.version,
      user,
      edit: (present) => editText(present ?? options.firstText(), change, options),
      missing: change.change === 'add' ? undefined : () => noFile(file, program),
      fields: { provider: change.id, change: change.change },
    },
    options,
  )
}

/** Makes sure that a change would be made, without making it. @throws as {@link changeFile} does */
export async function checkChange(change: ProviderChange, options: ProviderFileOptions): Promise<void> {
  const { file, program } = options
  const present = await readConfigText(file).catch(asFaults)
  if (present === undefined && change.change !== 'add') noFile(file, program)
  if (fingerprint(present) !== change.version) throw conflict()
  editText(present ?? options.firstText(), change, options)
}

/** Applies a change to the text. @throws {WireError} when the result is not valid */
function editText(text: string, change: ProviderChange, { file, environment }: ProviderFileOptions): string {
  try {
    const edited = editedText(text, change, file)
    checkText(edited, text, { file, environment })
    return edited
  } catch (error) {
    return asFaults(error)
  }
}

/** @throws {WireError} 400, 404 */
function editedText(text: string, wanted: ProviderChange, file: string): string {
  const { id } = wanted
  if (wanted.change === 'add') {
    const added = addProvider(text, file, entryOfDraft({ id, ...wanted.entry }), wanted.to)
    if (added === undefined) throw invalidRequest('invalid_value', `'id': a provider has the id '${id}' already.`, 'id')
    return added
  }
  if (wanted.change === 'edit') return withEdit(text, file, id, wanted.edit)
  const edit = wanted.change === 'move' ? { move: wanted.to } : wanted.change
  const edited = changeProvider(text, { file, id, edit })
  if (edited === undefined) throw unknownProvider()
  return edited
}

/** @throws {WireError} 400, 404 */
function withEdit(text: string, file: string, id: string, edit: ProviderEdits): string {
  const entry = providerIn(text, file, id)
  const edited = entry === undefined ? undefined : setMembers(text, { file, id }, membersOfEdit(entry, edit))
  if (edited === undefined) throw unknownProvider()
  return edited
}

/**
 * The settings of a provider in the file.
 *
 * @throws {WireError} 404 for an unknown provider; 409 `no_file`, `faulty_file`
 */
export async function readSettings(id: string, options: ProviderFileOptions): Promise<ProviderSettings> {
  const { file } = options
  const text = await presentText(options)
  try {
    const entry = providerIn(text, file, id)
    if (entry === undefined) throw unknownProvider()
    return { version: fingerprint(text), id, ...settingsOf(entry) }
  } catch (error) {
    return asFaults(error)
  }
}

/**
 * A provider of the file with other settings and all its models. Nothing is written.
 *
 * @throws {WireError} as {@link changeFile} does
 */
export async function editedProvider(
  id: string,
  edit: ProviderEdits,
  options: ProviderFileOptions,
): Promise<ProviderConfig> {
  const { file, environment } = options
  const text = await presentText(options)
  try {
    const edited = withEdit(text, file, id, { ...edit, models: null })
    const provider = parseConfig(edited, { file, environment }).providers.find((each) => each.id === id)
    if (provider === undefined) throw unknownProvider()
    return provider
  } catch (error) {
    return asFaults(error)
  }
}

/** @throws {WireError} 409 */
async function presentText({ file, program }: ProviderFileOptions): Promise<string> {
  return (await readConfigText(file).catch(asFaults)) ?? noFile(file, program)
}

function noFile(file: string, program: string): never {
  throw new WireError(
    409,
    'invalid_request_error',
    'no_file',
    `There is no ${harmless(file)}, so there is nothing to change: '${program} init' writes one`,
  )
}

/** @throws {ConfigError} with positions in the present text where it has the faults already */
function checkText(edited: string, text: string, options: ParseOptions): void {
  try {
    parseConfig(edited, options)
  } catch (error) {
    parseConfig(text, options)
    throw error
  }
}

/** 404: unknown provider. */
export function unknownProvider(): WireError {
  return new WireError(404, 'invalid_request_error', 'not_found', 'No provider has this id', { param: 'id' })
}

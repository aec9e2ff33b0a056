import { findBrand } from '../../config/catalogue.ts'
import type { Config } from '../../config/config.ts'
import type { FileRecording } from '../../config/edit/change-page-file.ts'
import { variableFor, writeKey, type TypedKey } from '../../config/edit/keys-env.ts'
import { readSettings, type ProviderFileOptions } from '../../config/edit/provider-file.ts'
import { readVariable } from '../../config/file/environment.ts'
import { readConfigText } from '../../config/file/read-text.ts'
import { isSameOrigin } from '../../config/file/resolve-provider.ts'
import { invalidRequest, WireError } from '../../formats/error.ts'
import type { ProviderEdits, ProviderLookRequest, WantedProviderChange } from '../../http/page/page-api.ts'
import type { KeyFiles } from '../key-files.ts'

export interface TypedKeyOptions extends FileRecording {
  readonly keys: Pick<KeyFiles, 'environment' | 'isFixed' | 'reload'>
  /** Path of keys.env; `undefined`: there is no folder for it. */
  readonly keysFile: string | undefined
  /** The current configuration. */
  readonly config: () => Config
}

/**
 * A change or a look with the name of its typed key, in place of the key.
 *
 * @throws {WireError} 400 for a name that is taken, and for a key that would go to another address than its own
 */
export async function withKeyName<Wanted extends WantedProviderChange | ProviderLookRequest>(
  wanted: Wanted,
  file: ProviderFileOptions,
  options: Pick<TypedKeyOptions, 'config' | 'keys'>,
): Promise<{ readonly wanted: Wanted; readonly typed?: Pick<TypedKey, 'variable' | 'key'> }> {
  const given = 'entry' in wanted ? wanted.entry : 'edit' in wanted ? wanted.edit : undefined
  if (given === undefined) return { wanted }
  if (given.key === undefined) {
    checkKeptKey(wanted.id, given, options)
    return { wanted }
  }
  const { key, keyVariable, ...rest } = given
  const variable = await nameOf(wanted, keyVariable ?? undefined, file, options)
  const named = { ...rest, keyVariable: variable }
  return {
    wanted: { ...wanted, ...('entry' in wanted ? { entry: named } : { edit: named }) },
    typed: { variable, key },
  }
}

/** The name of a typed key in keys.env. */
async function nameOf(
  wanted: WantedProviderChange | ProviderLookRequest,
  asked: string | undefined,
  file: ProviderFileOptions,
  { config, keys }: Pick<TypedKeyOptions, 'config' | 'keys'>,
): Promise<string> {
  const { id } = wanted
  // At a new address a key has a new name: by its present one it would be sent to the present address first.
  const isMoved = 'edit' in wanted && wanted.edit.baseUrl !== undefined
  const settings = 'edit' in wanted && !isMoved ? await readSettings(id, file) : undefined
  const present = settings?.key.kind === 'variable' ? settings.key.variable : undefined
  const brand = 'entry' in wanted ? findBrand(wanted.entry.brand ?? id)?.keys : settings?.variables
  const isUnset = (name: string) => readVariable(keys.environment, name) === undefined
  const ofBrand = (brand ?? []).slice(0, 1).filter((name) => settings?.key.kind === 'none' || isUnset(name))
  const text = (await readConfigText(file.file).catch(() => undefined)) ?? ''
  return variableFor({
    ...{ id, asked, usual: present === undefined ? ofBrand : [present] },
    isFixed: (name) => keys.isFixed(name),
    isOfOther: (name) =>
      config().providers.some((each) => (isMoved || each.id !== id) && each.keyName === name) ||
      // Headers and addresses have variables, too.
      text.split(`"$${name}"`).length - 1 > (name === present ? 1 : 0),
  })
}

/**
 * A key of keys.env is sent to the address that it was typed for: at another one, and after its provider was removed,
 * it is typed again.
 *
 * @throws {WireError} 400
 */
function checkKeptKey(
  id: string,
  { baseUrl, keyVariable }: Pick<ProviderEdits, 'baseUrl' | 'keyVariable'>,
  { config, keys }: Pick<TypedKeyOptions, 'config' | 'keys'>,
): void {
  const { providers } = config()
  const present = providers.find((each) => each.id === id)
  const name = keyVariable ?? present?.keyName
  const target = baseUrl ?? present?.baseUrl
  if (keyVariable === null || name === undefined || target === undefined || keys.isFixed(name)) return
  const holder = providers.find((each) => each.keyName === name && each.apiKey !== undefined)
  if (holder === undefined && readVariable(keys.environment, name) === undefined) return
  if (holder !== undefined && isSameOrigin(holder.baseUrl, target)) return
  const whose =
    holder === undefined ? `${name} is no provider's now` : `that of '${holder.id}' goes to no other address`
  throw invalidRequest('invalid_value', `Type the key again: ${whose}.`, 'key')
}

/** Writes a typed key. Resolves when it is in use. @throws {WireError} as `writeKey` does; 409 without a home folder */
export async function storeKey(typed: TypedKey, { keys, keysFile, ...recording }: TypedKeyOptions): Promise<void> {
  if (keysFile === undefined)
    throw new WireError(409, 'invalid_request_error', 'no_folder', 'There is no home folder for keys.env: set SVC_HOME')
  await writeKey(keysFile, typed, recording)
  await keys.reload()
}

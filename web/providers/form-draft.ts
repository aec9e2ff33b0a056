import { freeVariableMark } from '../../src/base/free-variable.ts'
import type { BrandEntry, ProviderDraft, ProviderEdits, ProviderSettings } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { isSameTimeouts, noTimeouts, timeoutsFault, timeoutsOf, typedTimeouts, type TypedTimeouts } from './timeouts.ts'

/** The choice of a server that is no brand. */
export const ownServer = 'other'

/** What was typed. */
export interface FormValues {
  /** Id of a brand, or {@link ownServer}; empty: not chosen yet. */
  readonly kind: string
  readonly id: string
  readonly baseUrl: string
  readonly protocol: NonNullable<ProviderDraft['protocol']>
  /** With or without the `$` before it. Empty: that of the brand, or no key. */
  readonly variable: string
  /** To be written into keys.env. Empty: none is typed. */
  readonly key: string
  /** Undefined: all that it lists. */
  readonly models: readonly string[] | undefined
  readonly timeouts: TypedTimeouts
}

/** The form of a new provider as it opens. */
export const emptyValues: FormValues = {
  ...{ kind: '', id: '', baseUrl: '', protocol: 'openai', variable: '', key: '' },
  models: undefined,
  timeouts: noTimeouts,
}

/** Fields of the form, by what is wrong with them. */
export type FormFaults = Partial<Record<'kind' | 'id' | 'baseUrl' | 'key' | 'variable' | 'models' | 'timeouts', string>>

/** An id that is not taken: that of the brand, or with a number behind. */
export function freeId(wanted: string, taken: ReadonlySet<string>): string {
  for (let number = 2, id = wanted; ; number += 1) {
    if (!taken.has(id)) return id
    id = `${wanted}-${number}`
  }
}

/** A name for a server at this address: the first part of its host name, if it is a word. */
export function nameOfServer(address: string): string {
  const host = URL.canParse(address) ? new URL(address).hostname : ''
  const words = host.split('.').filter((word) => !['api', 'www', 'localhost'].includes(word))
  const [first = ''] = /^[\d.:[\]a-f]*$/.test(host) ? [] : words
  return /^[a-z][a-z0-9-]{0,30}$/.test(first) ? first : 'server'
}

/** Checks what was typed. The service checks it again, by the rules of the file. */
export function faultsOf(values: FormValues, brands: readonly BrandEntry[], taken: ReadonlySet<string>): FormFaults {
  const { kind, id, baseUrl, variable, models } = values
  const timeouts = timeoutsFault(values.timeouts)
  const brand = brands.find((each) => each.id === kind)
  const faults: FormFaults = {}
  if (kind === '') faults.kind = say.providers.faults.chooseOne
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id)) faults.id = say.providers.faults.id
  else if (taken.has(id)) faults.id = say.providers.faults.taken
  else if (kind === ownServer && brands.some((each) => each.id === id)) faults.id = say.providers.faults.brandName
  if (kind === ownServer) Object.assign(faults, addressFault(baseUrl.trim()))
  Object.assign(faults, keyFault(values.key))
  Object.assign(faults, variableFault(variableName(variable), brand?.keys.map((key) => key.variable) ?? []))
  if (models?.length === 0) faults.models = say.providers.faults.chooseOneAtLeast
  if (timeouts !== undefined) faults.timeouts = timeouts
  return faults
}

/** What is wrong with a base URL. */
export function addressFault(address: string): Pick<FormFaults, 'baseUrl'> {
  if (/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(address)) return {}
  return { baseUrl: say.providers.faults.address }
}

/** What is wrong with a typed key. Empty: none is typed. */
export function keyFault(key: string): Pick<FormFaults, 'key'> {
  return /^(?:(?!\$)[!-~]*)$/.test(key.trim()) ? {} : { key: say.providers.faults.key }
}

/** What is wrong with the name of a variable. Empty: none is named. @param own variables of the brand */
export function variableFault(name: string, own: readonly string[]): Pick<FormFaults, 'variable'> {
  if (name === '' || own.includes(name) || /^SVC_KEY_[A-Za-z0-9_]+$/.test(name)) return {}
  const allowed = [...own, say.providers.nameThatBegins(freeVariableMark)].join(', ')
  return { variable: say.providers.faults.variable(allowed) }
}

/** A name of a variable, without the `$` that some write before it. */
export function variableName(variable: string): string {
  return variable.trim().replace(/^\$/, '')
}

/** The provider that was typed. */
export function draftOf({ kind, id, baseUrl, protocol, variable, key, models, ...values }: FormValues): ProviderDraft {
  const name = variableName(variable)
  const timeouts = timeoutsOf(values.timeouts)
  return {
    id,
    ...(kind === ownServer ? { baseUrl: baseUrl.trim(), protocol } : { brand: kind }),
    ...(name === '' ? {} : { keyVariable: name }),
    ...typedKey(key),
    ...(models === undefined ? {} : { models }),
    ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
  }
}

function typedKey(key: string): { readonly key?: string } {
  return key.trim() === '' ? {} : { key: key.trim() }
}

/** The variable that the service will read the key from, and whether it is set, as far as the page knows. */
export function keyState(
  { kind, variable }: Pick<FormValues, 'kind' | 'variable'>,
  brands: readonly BrandEntry[],
): { readonly variable: string; readonly isSet: boolean | undefined } | undefined {
  const keys = brands.find((each) => each.id === kind)?.keys ?? []
  const name = variableName(variable)
  if (name !== '') return { variable: name, isSet: keys.find((key) => key.variable === name)?.isSet }
  return keys.find(({ isSet }) => isSet) ?? keys[0]
}

/** What the form of an existing provider changes. */
export type EditValues = Pick<FormValues, 'baseUrl' | 'key' | 'variable' | 'models' | 'timeouts'>

/** The form as it opens, with what was typed before the file was changed meanwhile. */
export function valuesOf(
  { baseUrl = '', key, models, timeouts }: ProviderSettings,
  typed: ProviderEdits = {},
): EditValues {
  const variable = key.kind === 'variable' ? key.variable : ''
  return {
    baseUrl: typed.baseUrl ?? baseUrl,
    key: typed.key ?? '',
    variable: typed.keyVariable === undefined ? variable : (typed.keyVariable ?? ''),
    models: typed.models === undefined ? models : (typed.models ?? undefined),
    timeouts: typedTimeouts(typed.timeouts ?? timeouts),
  }
}

/** Checks what was changed. The service checks it again, by the rules of the file. */
export function faultsOfEdit(values: EditValues, settings: ProviderSettings): FormFaults {
  const { baseUrl, keyVariable, models } = editsOf(values, settings)
  const timeouts = timeoutsFault(values.timeouts)
  return {
    ...(baseUrl === undefined ? {} : addressFault(baseUrl)),
    ...keyFault(values.key),
    ...(typeof keyVariable === 'string' ? variableFault(keyVariable, settings.variables) : {}),
    ...(models?.length === 0 ? { models: say.providers.faults.chooseOneAtLeast } : {}),
    ...(timeouts === undefined ? {} : { timeouts }),
  }
}

/** The changes alone. */
export function editsOf(
  { baseUrl, variable, key, models, ...values }: EditValues,
  settings: ProviderSettings,
): ProviderEdits {
  const before = valuesOf(settings),
    address = baseUrl.trim(),
    name = variableName(variable),
    timeouts = timeoutsOf(values.timeouts)
  return {
    ...(address === before.baseUrl ? {} : { baseUrl: address }),
    ...(name === before.variable ? {} : { keyVariable: name === '' ? null : name }),
    ...typedKey(key),
    ...(isSame(models, before.models) ? {} : { models: models ?? null }),
    ...(isSameTimeouts(timeouts, settings.timeouts) ? {} : { timeouts }),
  }
}

function isSame(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  if (some === undefined || others === undefined) return some === others
  return some.length === others.length && some.every((each) => others.includes(each))
}

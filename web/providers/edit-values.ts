import type { ProviderEdits, ProviderSettings } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { addressFault, variableFault, variableName } from './form-draft.ts'

/** What the form of an existing provider holds. */
export interface EditValues {
  readonly baseUrl: string
  /** With or without the `$` before it. Empty: none. */
  readonly variable: string
  /** Undefined: all that it lists. */
  readonly models: readonly string[] | undefined
}

/** Fields of the form, by what is wrong with them. */
export type EditFaults = Partial<Record<keyof EditValues, string>>

/** The form as it opens, with what was typed before the file was changed meanwhile. */
export function valuesOf({ baseUrl = '', key, models }: ProviderSettings, typed: ProviderEdits = {}): EditValues {
  const variable = key.kind === 'variable' ? key.variable : ''
  return {
    baseUrl: typed.baseUrl ?? baseUrl,
    variable: typed.keyVariable === undefined ? variable : (typed.keyVariable ?? ''),
    models: typed.models === undefined ? models : (typed.models ?? undefined),
  }
}

/** Checks what was changed. The service checks it again, by the rules of the file. */
export function faultsOfEdit(values: EditValues, settings: ProviderSettings): EditFaults {
  const { baseUrl, keyVariable, models } = editsOf(values, settings)
  return {
    ...(baseUrl === undefined ? {} : addressFault(baseUrl)),
    ...(typeof keyVariable === 'string' ? variableFault(keyVariable, settings.variables) : {}),
    ...(models?.length === 0 ? { models: say.providers.faults.chooseOneAtLeast } : {}),
  }
}

/** The changes alone. */
export function editsOf({ baseUrl, variable, models }: EditValues, settings: ProviderSettings): ProviderEdits {
  const before = valuesOf(settings),
    address = baseUrl.trim(),
    name = variableName(variable)
  return {
    ...(address === before.baseUrl ? {} : { baseUrl: address }),
    ...(name === before.variable ? {} : { keyVariable: name === '' ? null : name }),
    ...(isSame(models, before.models) ? {} : { models: models ?? null }),
  }
}

function isSame(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  if (some === undefined || others === undefined) return some === others
  return some.length === others.length && some.every((each) => others.includes(each))
}

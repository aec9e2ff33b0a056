import type { ProviderEdits, ProviderSettings } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { addressFault, variableFault, variableName } from './form-draft.ts'
import { isSameTimeouts, timeoutsFault, timeoutsOf, typedTimeouts, type TypedTimeouts } from './timeouts.ts'

/** What the form of an existing provider holds. */
export interface EditValues {
  readonly baseUrl: string
  /** With or without the `$` before it. Empty: none. */
  readonly variable: string
  /** Undefined: all that it lists. */
  readonly models: readonly string[] | undefined
  readonly timeouts: TypedTimeouts
}

/** Fields of the form, by what is wrong with them. */
export type EditFaults = Partial<Record<keyof EditValues, string>>

/** The form as it opens, with what was typed before the file was changed meanwhile. */
export function valuesOf(
  { baseUrl = '', key, models, timeouts }: ProviderSettings,
  typed: ProviderEdits = {},
): EditValues {
  const variable = key.kind === 'variable' ? key.variable : ''
  return {
    baseUrl: typed.baseUrl ?? baseUrl,
    variable: typed.keyVariable === undefined ? variable : (typed.keyVariable ?? ''),
    models: typed.models === undefined ? models : (typed.models ?? undefined),
    timeouts: typedTimeouts(typed.timeouts ?? timeouts),
  }
}

/** Checks what was changed. The service checks it again, by the rules of the file. */
export function faultsOfEdit(values: EditValues, settings: ProviderSettings): EditFaults {
  const { baseUrl, keyVariable, models } = editsOf(values, settings)
  const timeouts = timeoutsFault(values.timeouts)
  return {
    ...(baseUrl === undefined ? {} : addressFault(baseUrl)),
    ...(typeof keyVariable === 'string' ? variableFault(keyVariable, settings.variables) : {}),
    ...(models?.length === 0 ? { models: say.providers.faults.chooseOneAtLeast } : {}),
    ...(timeouts === undefined ? {} : { timeouts }),
  }
}

/** The changes alone. */
export function editsOf(
  { baseUrl, variable, models, ...values }: EditValues,
  settings: ProviderSettings,
): ProviderEdits {
  const before = valuesOf(settings),
    address = baseUrl.trim(),
    name = variableName(variable),
    timeouts = timeoutsOf(values.timeouts)
  return {
    ...(address === before.baseUrl ? {} : { baseUrl: address }),
    ...(name === before.variable ? {} : { keyVariable: name === '' ? null : name }),
    ...(isSame(models, before.models) ? {} : { models: models ?? null }),
    ...(isSameTimeouts(timeouts, settings.timeouts) ? {} : { timeouts }),
  }
}

function isSame(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  if (some === undefined || others === undefined) return some === others
  return some.length === others.length && some.every((each) => others.includes(each))
}

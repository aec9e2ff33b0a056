import { isRecord } from '../../src/base/json-value.ts'
import type { ChatSettings, Parameters } from '../history/conversation.ts'
import { countSet, parseParameters } from '../parameters/parameters.ts'
import { storedValue, type StoredValue, type ValueStorage } from '../stored-value.ts'

/** The settings of the preset that every new conversation begins with: a copy, which is there at once. */
export interface StandingPreset extends ChatSettings {
  readonly name: string
  /** Of an own preset. Absent: it is shared. */
  readonly id?: string
}

/** The standing preset of a user in this browser, if there is one. @param userId absent without sign-in */
export function standingPreset(
  userId: string | undefined,
  storage?: ValueStorage,
): StoredValue<StandingPreset | undefined> {
  return storedValue(`svc.standing-preset.${userId ?? 'anon'}`, parseStanding, storage)
}

/** Invalid content counts as no preset. */
function parseStanding(text: string): StandingPreset | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value)) return undefined
    const { name, id, model, system, parameters } = value
    if (typeof name !== 'string' || typeof system !== 'string') return undefined
    return {
      name,
      system,
      parameters: parseParameters(parameters),
      ...(typeof id === 'string' ? { id } : {}),
      ...(typeof model === 'string' ? { model } : {}),
    }
  } catch {
    // Nothing, damaged, or not written by this page.
    return undefined
  }
}

/** Adds what a standing preset sets. */
export function withStanding(settings: ChatSettings, standing: StandingPreset | undefined): ChatSettings {
  if (standing === undefined) return settings
  const { model, system, parameters } = standing
  return {
    ...settings,
    ...(model === undefined ? {} : { model }),
    ...(system === '' ? {} : { system }),
    ...(countSet(parameters) === 0 ? {} : { parameters }),
  }
}

/** Takes away what a standing preset has set, and nothing that was changed since. */
export function withoutStanding({ model, system, parameters }: ChatSettings, standing: StandingPreset): ChatSettings {
  const own = Object.entries(parameters).filter(([name, value]) => !isSet(standing.parameters, name, value))
  return {
    ...(model === undefined || model === standing.model ? {} : { model }),
    system: system === standing.system ? '' : system,
    parameters: Object.fromEntries(own),
  }
}

/** Whether settings have what a standing preset sets. Its model counts only if it sets nothing else. */
export function hasStanding({ model, system, parameters }: ChatSettings, standing: StandingPreset): boolean {
  const asked = Object.entries(standing.parameters)
  if (standing.system === '' && asked.length === 0) return model === standing.model
  return (
    (standing.system === '' || standing.system === system) &&
    asked.every(([name, value]) => isSet(parameters, name, value))
  )
}

function isSet(parameters: Parameters, name: string, value: unknown): boolean {
  return Object.entries(parameters).some(([each, set]) => each === name && String(set) === String(value))
}

import type { PresetEntry } from '../../src/http/page/page-api.ts'
import type { ChatSettings, Conversation, Parameters } from '../history/conversation.ts'
import { oneLine } from '../history/one-line.ts'
import { countSet, parseParameters } from '../parameters/parameters.ts'
import { say } from '../texts/say.ts'
import type { StandingPreset } from './standing-preset.ts'

/** Settings and a message under a name. What is absent leaves that of a conversation as it is. */
export interface Preset {
  /** Of an own preset: its id in the history of presets. Absent: it is shared, or not stored yet. */
  readonly id?: string
  /** Written after `/`: without blanks and slashes. */
  readonly name: string
  readonly description?: string
  readonly model?: string
  readonly system?: string
  /** Text for the message field. */
  readonly prompt?: string
  readonly parameters?: Parameters
  /** Of presets.json, for all users. */
  readonly isShared: boolean
}

/** Maximum lengths, as in presets.json. */
export const nameLengthMax = 40,
  textLengthMax = 32_000

/** Number of own presets. */
export const ownPresetsMax = 200

/** Makes a name of any text: `Be brief!` becomes `Be-brief`. Empty if no letter or digit is in it. */
export function nameFrom(text: string): string {
  return oneLine(text)
    .trim()
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, nameLengthMax)
    .replace(/-+$/, '')
}

/** Reads a preset of the service. */
export function sharedPreset({ parameters, ...entry }: PresetEntry): Preset {
  return { ...entry, ...(parameters === undefined ? {} : { parameters: parseParameters(parameters) }), isShared: true }
}

/** Returns the members of a preset as presets.json has them, without its name. */
export function membersOf({ description, model, system, prompt, parameters }: Preset): Omit<PresetEntry, 'name'> {
  return {
    ...(description === undefined ? {} : { description }),
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(parameters === undefined ? {} : { parameters: { ...parameters } }),
  }
}

/**
 * Returns an own preset as a conversation, which is how it is stored: its title is the name, its first message the
 * prompt.
 */
export function asConversation(preset: Preset, id: string, now: number): Conversation {
  const { name, model, system = '', prompt, parameters = {} } = preset
  return {
    id,
    title: name,
    isTitled: true,
    isPinned: false,
    created: now,
    updated: now,
    settings: { system, parameters, ...(model === undefined ? {} : { model }) },
    messages: prompt === undefined ? [] : [{ role: 'user', id: 'prompt', time: now, text: prompt, images: [] }],
  }
}

/** Reads an own preset. Any conversation is one: its settings, and its first message. */
export function fromConversation({ id, title, settings, messages }: Conversation): Preset {
  const prompt = messages.find(({ role }) => role === 'user')?.text.slice(0, textLengthMax) ?? ''
  const system = settings.system.slice(0, textLengthMax)
  const parameters = parseParameters(settings.parameters)
  return {
    id,
    name: nameFrom(title) || 'preset',
    ...(settings.model === undefined ? {} : { model: settings.model }),
    ...(system.trim() === '' ? {} : { system }),
    ...(prompt.trim() === '' ? {} : { prompt }),
    ...(countSet(parameters) === 0 ? {} : { parameters }),
    isShared: false,
  }
}

/** Returns the presets for a text after `/`: names that begin with it, then those that contain it. Case is ignored. */
export function matching(presets: readonly Preset[], text: string): readonly Preset[] {
  const wanted = text.toLowerCase()
  const found = presets.filter(({ name }) => name.toLowerCase().includes(wanted))
  const begins = ({ name }: Preset): boolean => name.toLowerCase().startsWith(wanted)
  return [...found.filter(begins), ...found.filter((preset) => !begins(preset))]
}

/** `{{name}}`, with blanks inside. */
const variablePattern = /\{\{\s*([\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_ -]{0,38}[\p{L}\p{M}\p{N}_])?)\s*\}\}/gu

/** Number of variables that are asked for. Further ones stay as they are. */
const variablesMax = 20

/** Returns the names of the variables of a preset, each once. */
export function variablesOf({ system = '', prompt = '' }: Preset): readonly string[] {
  const names = [...prompt.matchAll(variablePattern), ...system.matchAll(variablePattern)].map(([, name = '']) => name)
  return [...new Set(names)].slice(0, variablesMax)
}

/** Replaces variables by their values. Values are not searched for variables. */
export function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(variablePattern, (whole, name: string) => values.get(name) ?? whole)
}

/** Returns the settings that a preset sets. */
export function settingsOf(
  { model, system, parameters }: Preset,
  values: ReadonlyMap<string, string>,
): Partial<ChatSettings> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system: filled(system, values) }),
    ...(parameters === undefined ? {} : { parameters }),
  }
}

/** Returns a preset as one for every new conversation; `undefined`: it sets nothing, or asks for variables. */
export function asStanding({ prompt: _, ...preset }: Preset): StandingPreset | undefined {
  const { name, id, isShared } = preset
  const settings = settingsOf(preset, new Map())
  if (Object.keys(settings).length === 0 || variablesOf(preset).length > 0) return undefined
  return { name, system: '', parameters: {}, ...settings, ...(isShared || id === undefined ? {} : { id }) }
}

/** Whether a preset is the standing one. */
export function isStanding({ name, id, isShared }: Preset, standing: StandingPreset | undefined): boolean {
  if (standing === undefined) return false
  return standing.id === undefined ? isShared && name === standing.name : id === standing.id
}

/** A preset in one line. */
export function summaryOf({ description, model, system, prompt, parameters }: Preset): string {
  const count = parameters === undefined ? 0 : countSet(parameters)
  const parts = [description ?? prompt ?? system, model, count === 0 ? undefined : say.presets.parameters(count)]
  return oneLine(
    parts
      .filter((part) => part !== undefined && part !== '')
      .map((part) => part?.slice(0, 200))
      .join(' · '),
  )
}

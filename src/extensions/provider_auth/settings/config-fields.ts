import { isRecord } from '../../../base/json-value.ts'
import { didYouMean } from '../../../base/nearest.ts'
import type { TextRule } from '../../../base/text-rule.ts'
import { ExtensionConfigError, type ExtensionConfig } from '../../extension.ts'

/**
 * Typed access to the members of a configuration file. An absent member gives `undefined`. Booleans and numbers may be
 * written as text, since environment variables are text. All methods throw an {@link ExtensionConfigError} for other
 * values.
 */
export interface ConfigFields {
  /** Name of the unset variable that the member refers to. */
  unset(name: string): string | undefined
  has(name: string): boolean
  /** @throws for a member with another name; the error suggests the nearest one */
  refuseOthers(names: readonly string[]): void
  text(name: string, rule: TextRule): string | undefined
  /** Whether the member is `""`. */
  isEmpty(name: string): boolean
  isList(name: string): boolean
  /** A text or an array of texts, of any length. */
  texts(name: string, allowed: string): readonly string[] | undefined
  /** One of a list of words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined
  flag(name: string): boolean | undefined
  integer(name: string, minimum: number, maximum: number): number | undefined
  /** A member that is an object. */
  object(name: string): ConfigFields | undefined
  /** @param found description of the value; default: the value */
  refuse(name: string, allowed: string, found?: string): never
  /** A value for an error message, without secrets. */
  shown(value: unknown): string
}

/** Values that error messages must not quote. */
export interface Hidden {
  /** Members with secret values. */
  readonly names: readonly string[]
  /** Secrets; no value that contains one is quoted. */
  readonly texts: readonly string[]
}

/** Creates the reader. @param path prefix of names in errors, such as `user_fields.` */
export function configFields({ values, unset }: ExtensionConfig, hidden: Hidden, path = ''): ConfigFields {
  const valueOf = (name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined)

  function refuse(name: string, allowed: string, found?: string): never {
    throw new ExtensionConfigError(`${path}${name}`, found ?? describeMember(name), allowed)
  }

  function describeMember(name: string): string {
    const variable = unset.get(name)
    if (variable !== undefined && valueOf(name) === undefined) return `$${variable}, which is not set`
    const value = valueOf(name)
    return hidden.names.includes(`${path}${name}`) && value !== undefined && value !== ''
      ? `a value of type ${typeof value} (not shown)`
      : shown(value)
  }

  function shown(value: unknown): string {
    return describe(value, hidden.texts)
  }

  return {
    unset: (name) => unset.get(name),
    has: (name) => valueOf(name) !== undefined,
    isEmpty: (name) => valueOf(name) === '',
    isList: (name) => Array.isArray(valueOf(name)),
    refuse,
    shown,
    refuseOthers(names) {
      const other = [...Object.keys(values), ...unset.keys()].find((name) => !names.includes(name))
      if (other === undefined) return
      refuse(other, names.join(', ') + didYouMean(other, names), 'an unknown name')
    },
    text(name, { allowed, pattern, lengthMax }) {
      const value = valueOf(name)
      if (value === undefined) return undefined
      if (typeof value !== 'string') return refuse(name, allowed)
      if (value.length > lengthMax) return refuse(name, `at most ${lengthMax}`, `${value.length} characters`)
      return pattern.test(value) ? value : refuse(name, allowed)
    },
    texts(name, allowed) {
      const value = valueOf(name)
      if (value === undefined) return undefined
      const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
      return texts.length === (Array.isArray(value) ? value.length : 1) ? texts : refuse(name, allowed)
    },
    word(name, words) {
      const value = valueOf(name)
      if (value === undefined) return undefined
      const allowed = words.map((word) => `"${word}"`).join(', ')
      return words.find((word) => word === value) ?? refuse(name, allowed + didYouMean(value, words))
    },
    flag(name) {
      const value = valueOf(name)
      if (value === undefined) return undefined
      if (value === true || value === 'true') return true
      return value === false || value === 'false' ? false : refuse(name, 'true or false')
    },
    integer(name, minimum, maximum) {
      const value = valueOf(name)
      if (value === undefined) return undefined
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
      const isRight = typeof number === 'number' && Number.isInteger(number) && number >= minimum && number <= maximum
      return isRight ? number : refuse(name, `an integer from ${minimum} to ${maximum}`)
    },
    object(name) {
      const value = valueOf(name)
      if (value === undefined) return undefined
      if (!isRecord(value)) return refuse(name, 'an object')
      return configFields({ values: value, unset: new Map() }, hidden, `${path}${name}.`)
    },
  }
}

const shownMax = 60

/** A value for an error message, without secrets and URLs that may hold one. */
function describe(value: unknown, secrets: readonly string[]): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (isRecord(value)) return 'an object'
  if (typeof value !== 'string') return String(value)
  if (value === '') return 'an empty text'
  if (secrets.some((secret) => value.includes(secret)) || /:\/\/\S*[@?]/.test(value)) return 'a text (not shown)'
  const shown = JSON.stringify(value)
  return shown.length > shownMax ? `${shown.slice(0, shownMax - 3).toWellFormed()}…"` : shown
}

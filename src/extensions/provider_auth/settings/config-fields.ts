import { isRecord } from '../../../base/json-value.ts'
import { didYouMean } from '../../../base/nearest.ts'
import type { TextRule } from '../../../base/text-rule.ts'
import { listShape } from '../../../shapes/containers.ts'
import { valueNode } from '../../../shapes/node.ts'
import { eitherShape, flagShape, integerShape, mapShape, textShape, type ValueShape } from '../../../shapes/shape.ts'
import { ExtensionConfigError, type ExtensionConfig } from '../../extension.ts'

/** Values that error messages must not quote. */
interface Hidden {
  /** Members with secret values. */
  readonly names: readonly string[]
  /** Secrets; no value that contains one is quoted. */
  readonly texts: readonly string[]
}

/**
 * The members of a configuration file. An absent member gives `undefined`. For a value that is not of its shape,
 * methods throw an {@link ExtensionConfigError}.
 */
export class ConfigFields {
  readonly #config: ExtensionConfig
  readonly #hidden: Hidden
  readonly #path: string

  /** @param path prefix of names in errors, such as `user_fields.` */
  constructor(config: ExtensionConfig, hidden: Hidden, path = '') {
    this.#config = config
    this.#hidden = hidden
    this.#path = path
  }

  valueOf(name: string): unknown {
    const { values } = this.#config
    return Object.hasOwn(values, name) ? values[name] : undefined
  }

  has(name: string): boolean {
    return this.valueOf(name) !== undefined
  }

  /** Name of the unset variable that the member refers to. */
  unset(name: string): string | undefined {
    return this.#config.unset.get(name)
  }

  read<Value>(name: string, shape: ValueShape<Value>): Value | undefined {
    if (!this.has(name)) return undefined
    return shape.read(valueNode(this.valueOf(name)), {
      // Other descriptions would quote secrets.
      add: (_, found, allowed) => this.refuse(name, allowed, /^\d+ characters$/.test(found) ? found : undefined),
      lineOf: () => 1,
    })
  }

  text(name: string, rule: TextRule): string | undefined {
    return this.read(name, textShape(rule))
  }

  /** A member that is an object. */
  object(name: string): ConfigFields | undefined {
    const value = this.valueOf(name)
    if (value === undefined) return undefined
    if (!isRecord(value)) return this.refuse(name, 'an object')
    return new ConfigFields({ values: value, unset: new Map() }, this.#hidden, `${this.#path}${name}.`)
  }

  /** @throws for a member with another name; the error suggests the nearest one */
  refuseOthers(names: readonly string[]): void {
    const { values, unset } = this.#config
    const other = [...Object.keys(values), ...unset.keys()].find((name) => !names.includes(name))
    if (other === undefined) return
    this.refuse(other, names.join(', ') + didYouMean(other, names), 'an unknown name')
  }

  /** @param found description of the value; default: the value */
  refuse(name: string, allowed: string, found = this.#describe(name)): never {
    throw new ExtensionConfigError(`${this.#path}${name}`, found, allowed)
  }

  #describe(name: string): string {
    const value = this.valueOf(name)
    const variable = this.unset(name)
    if (variable !== undefined && value === undefined) return `$${variable}, which is not set`
    return this.#hidden.names.includes(`${this.#path}${name}`) && value !== undefined && value !== ''
      ? `a value of type ${typeof value} (not shown)`
      : this.shown(value)
  }

  /** A value for an error message, without secrets. */
  shown(value: unknown): string {
    return describe(value, this.#hidden.texts)
  }
}

/** True or false, also as text, since variables are text. */
export const writtenFlag: ValueShape<boolean> = {
  ...flagShape,
  read: (node, faults) =>
    node.value === 'true' || node.value === 'false' ? node.value === 'true' : flagShape.read(node, faults),
}

/** An integer, also as text. */
export function writtenInteger(minimum: number, maximum: number): ValueShape<number> {
  const integer = integerShape(minimum, maximum)
  return {
    ...integer,
    read({ value }, faults) {
      const isDigits = typeof value === 'string' && /^\d{1,15}$/.test(value)
      return integer.read(valueNode(isDigits ? Number(value) : value), faults)
    },
  }
}

/** A text or an array of texts, of any length. */
export function textsShape(allowed: string): ValueShape<readonly string[]> {
  const text = textShape({ allowed, pattern: /^/, lengthMax: Infinity })
  const one = mapShape(text, (each): readonly string[] => [each])
  return eitherShape({ string: one, array: listShape(text) }, allowed)
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

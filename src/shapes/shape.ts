import type { JsonObject } from '../base/json-value.ts'
import { didYouMean } from '../base/nearest.ts'
import type { TextRule } from '../base/text-rule.ts'
import type { NodeKind, ValuePlace, ShapeNode } from './node.ts'

/*
 * Shapes: tables of what values from outside may be. A file of the configuration is read by one table
 * (`config/file/parse-config.ts`): its text becomes nodes (`node.ts`), the table's `read` walks them and gives a typed
 * value, and each deviation is a fault with its path, what was found and what is allowed. The same table is written as
 * the JSON Schema for editors (`npm run schema`), so a field is named once. This file has the shapes of single values,
 * `containers.ts` those of lists and objects. Rules that no schema can say, such as unique names, are added by
 * {@link mapShape} and by `check` of objects. Bodies of requests to models are not read here: they may be large, and
 * `formats/request-shape.ts` checks their bytes.
 */

/** Takes the faults of a document. */
export interface Faults {
  /**
   * @param found must not contain a secret
   * @param isKind the value is of another kind, such as a number in place of a string
   */
  add(at: ValuePlace, found: string, allowed: string, isKind?: boolean): void
  /** The line of an offset, from 1. */
  lineOf(offset: number): number
}

/** What a value from outside may be. */
export interface ValueShape<out Value> {
  /** Reads a value; `undefined` with a fault. */
  read(node: ShapeNode, faults: Faults): Value | undefined
  /** The JSON Schema of the shape. @param write gives that of a shape inside, which may be a reference */
  schema(write: SchemaWriter): JsonObject
  /** `null` is a value, where it else counts as absent. */
  readonly takesNull?: boolean
}

/** @param member the name of the member that has the shape */
export type SchemaWriter = (shape: ValueShape<unknown>, member?: string) => JsonObject

export type ValueOf<Shape> = Shape extends ValueShape<infer Value> ? Value : never

/** Describes a value for a fault, such as `"text"`, `5` or `an object`: at most 60 characters, without secrets. */
export function describeNode({ kind, value, isSecret }: ShapeNode): string {
  if (kind === 'object') return 'an object'
  if (kind === 'array') return 'an array'
  if (isSecret) return kind === 'string' ? 'a string (not shown)' : `a value of type ${kind} (not shown)`
  const shown = kind === 'null' ? 'null' : JSON.stringify(value)
  return shown.length > 60 ? `${shown.slice(0, 57)}…${kind === 'string' ? '"' : ''}` : shown
}

/** Adds a fault for a value that is not allowed. Returns `undefined`, for use in return statements. */
export function refuseNode(node: ShapeNode, allowed: string, faults: Faults, isKind = false): undefined {
  faults.add(node, describeNode(node), allowed, isKind)
  return undefined
}

/** A shape whose value is checked further, or replaced. */
export function mapShape<Given, Value>(
  shape: ValueShape<Given>,
  map: (value: Given, node: ShapeNode, faults: Faults) => Value | undefined,
): ValueShape<Value> {
  return {
    read(node, faults) {
      const value = shape.read(node, faults)
      return value === undefined ? undefined : map(value, node, faults)
    },
    schema: (write) => write(shape),
  }
}

/** A shape whose schema says more, or something else. */
export function withSchema<Value>(shape: ValueShape<Value>, schema: JsonObject): ValueShape<Value> {
  return { read: shape.read, schema: (write) => ({ ...shape.schema(write), ...schema }) }
}

/** A shape of values that faults do not quote. */
export function secretShape<Value>(shape: ValueShape<Value>): ValueShape<Value> {
  return { read: (node, faults) => shape.read(node.asSecret(), faults), schema: (write) => shape.schema(write) }
}

/** A string that obeys the rule. */
export function textShape(rule: TextRule): ValueShape<string> {
  const { pattern, lengthMax, allowed } = rule
  return {
    read(node, faults) {
      const { value } = node
      if (typeof value !== 'string') return refuseNode(node, allowed, faults, true)
      if (value.length > lengthMax) {
        faults.add(node, `${value.length} characters`, `at most ${lengthMax}`)
        return undefined
      }
      return pattern.test(value) ? value : refuseNode(node, allowed, faults)
    },
    schema: () => ({ type: 'string', maxLength: lengthMax, ...patternSchema(pattern) }),
  }
}

function patternSchema({ source, flags }: RegExp): JsonObject {
  if (source === '^') return {}
  return source === '.' && flags === 's' ? { minLength: 1 } : { pattern: source }
}

/** One of a few words. The fault for another value suggests the nearest word. */
export function wordShape<const Word extends string>(words: readonly Word[]): ValueShape<Word> {
  const allowed = words.map((word) => `"${word}"`).join(', ')
  return {
    read: (node, faults) =>
      words.find((word) => word === node.value) ?? refuseNode(node, allowed + didYouMean(node.value, words), faults),
    schema: () => ({ enum: [...words] }),
  }
}

/** `true` or `false`. */
export const flagShape: ValueShape<boolean> = {
  read: (node, faults) =>
    typeof node.value === 'boolean' ? node.value : refuseNode(node, 'true or false', faults, true),
  schema: () => ({ type: 'boolean' }),
}

/** An integer. */
export function integerShape(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER): ValueShape<number> {
  return numeric('integer', minimum, maximum)
}

/** A number. */
export function numberShape(minimum: number, maximum: number): ValueShape<number> {
  return numeric('number', minimum, maximum)
}

function numeric(type: 'integer' | 'number', minimum: number, maximum: number): ValueShape<number> {
  const allowed = `${type === 'integer' ? 'an' : 'a'} ${type} from ${minimum} to ${maximum}`
  return {
    read(node, faults) {
      const { value } = node
      if (typeof value !== 'number') return refuseNode(node, allowed, faults, true)
      const isWithin = value >= minimum && value <= maximum && (type === 'number' || Number.isInteger(value))
      return isWithin ? value : refuseNode(node, allowed, faults)
    },
    schema: () => ({ type, minimum, maximum }),
  }
}

/** This value alone. @param allowed for the fault of another */
export function onlyShape<const Value extends string | number>(only: Value, allowed: string): ValueShape<Value> {
  return {
    read: (node, faults) => (node.value === only ? only : refuseNode(node, allowed, faults)),
    schema: () => ({ const: only }),
  }
}

/** The shape, or `null`. */
export function nullOr<Value>(shape: ValueShape<Value>): ValueShape<Value | null> {
  return {
    read: (node, faults) => (node.kind === 'null' ? null : shape.read(node, faults)),
    schema: (write) => ({ anyOf: [write(shape), { type: 'null' }] }),
    takesNull: true,
  }
}

type ByKind = Readonly<{ [Kind in NodeKind]?: ValueShape<unknown> }>

/** A shape for each kind of value. @param otherwise the allowed values, or the shape whose fault says them */
export function eitherShape<const Shapes extends ByKind>(
  shapes: Shapes,
  otherwise: string | ValueShape<unknown>,
): ValueShape<ValueOf<Shapes[keyof Shapes]>>
export function eitherShape(shapes: ByKind, otherwise: string | ValueShape<unknown>): ValueShape<unknown> {
  return {
    read(node, faults) {
      const shape = shapes[node.kind] ?? otherwise
      return typeof shape === 'string' ? refuseNode(node, shape, faults) : shape.read(node, faults)
    },
    schema: (write) => ({ anyOf: Object.values(shapes).map((shape) => write(shape)) }),
  }
}

import { nameTable, type JsonCursor, type JsonKind, type NameTable } from '../../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../../bytes/pace.ts'
import { WireError } from '../error.ts'
import { checkChoice, checkNumber, readBoolean, type NumberRule } from '../fields.ts'
import { missing, shown, wrongType } from '../request-fault.ts'

/** The rule for a value. `null` counts as absent, except in lists. */
export type Rule =
  | ShortRule
  | { readonly kind: 'any' }
  | { readonly kind: 'string' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'object'; readonly shape: () => Shape }
  | ListRule
  | EitherRule

type ShortRule = NumberRule | { readonly kind: 'boolean' } | Refusal

/** A rule for each kind of value. */
interface EitherRule {
  readonly kind: 'either'
  /** The allowed values, for the error. */
  readonly expected: string
  readonly rules: Readonly<{ [Kind in JsonKind]?: Rule }>
}

/** A list of values of one rule. */
export interface ListRule {
  readonly kind: 'list'
  readonly of: Rule
  /** Default: 0. */
  readonly min?: number
  /** Its offsets are kept in {@link Found.lists}. */
  readonly isKept?: true
}

/** A value that this service refuses; for a boolean, only `true`. */
export interface Refusal {
  readonly kind: 'refused'
  /** Completes the sentence about the field. */
  readonly because: string
  readonly onlyTrue?: true
}

/** The rules for an object. Unknown members pass unread. */
export interface Shape {
  readonly names: readonly string[]
  readonly table: NameTable
  readonly rules: readonly Rule[]
  /** Further rules by the value of its `type`. */
  readonly types: Readonly<Record<string, TypeRule>>
  /** The type of an object without one. Absent: a type is required, unless there are no types. */
  readonly defaultType: string | undefined
}

/** The members that objects of one type must have, with the kinds of value they may have; or a refusal. */
export type TypeRule = { readonly needs: Readonly<Record<string, readonly JsonKind[]>> } | Refusal

/** Facts found on a walk. */
export interface Found {
  /** Known types of objects. */
  readonly types: Set<string>
  /** Offsets of lists. At most 1,000: more are refused. */
  readonly lists: Span[]
}

/** A value, by its offsets in the body. */
export interface Span {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

const listsMax = 1_000
const typeBytesMax = 128

/** Makes a shape. */
export function shape(
  members: Readonly<Record<string, Rule>>,
  types: Readonly<Record<string, TypeRule>> = {},
  defaultType?: string,
): Shape {
  const names = ['type', ...Object.keys(members)]
  const rules: readonly Rule[] = [{ kind: 'any' }, ...Object.values(members)]
  return { names, table: nameTable(names), rules, types, defaultType }
}

/** The error for a value that this service refuses. */
export function refused(param: string, { because }: Refusal): WireError {
  return new WireError(
    400,
    'invalid_request_error',
    'unsupported_parameter',
    `'${param}' is not supported: ${because}.`,
    { param },
  )
}

/**
 * Passes a value and checks it.
 *
 * @param path of the value, such as `input[2].content`
 * @throws {WireError} 400
 */
export function* checkValue(cursor: JsonCursor, pace: Pace, rule: Rule, path: string, found: Found): Walk<void> {
  const kind = cursor.peek()
  if (kind === 'null') return cursor.skip() ? undefined : yield* skip(cursor, pace)
  switch (rule.kind) {
    case 'any':
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      return
    case 'string':
      if (kind !== 'string') throw wrongType(path, 'a string', kind)
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      return
    case 'choice': {
      const start = cursor.position
      if (kind === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      return checkChoice(cursor, start, path, rule.values)
    }
    case 'object':
      if (kind !== 'object') throw wrongType(path, 'an object', kind)
      return yield* checkObject(cursor, pace, rule.shape(), path, found)
    case 'list':
      return yield* checkList(cursor, pace, rule, path, found)
    case 'either':
      return yield* checkValue(cursor, pace, ruleFor(rule, kind, path), path, found)
    default:
      checkShort(cursor, rule, path)
  }
}

function ruleFor({ rules, expected }: EitherRule, kind: JsonKind, path: string): Rule {
  const rule = rules[kind]
  if (rule === undefined) throw wrongType(path, expected, kind)
  return rule
}

/** Passes a short value and checks it. */
function checkShort(cursor: JsonCursor, rule: ShortRule, path: string): void {
  switch (rule.kind) {
    case 'boolean':
      readBoolean(cursor, path)
      return
    case 'integer':
    case 'number':
      return checkNumber(cursor, path, rule)
    case 'refused':
      if (rule.onlyTrue !== true || readBoolean(cursor, path)) throw refused(path, rule)
  }
}

function* checkList(cursor: JsonCursor, pace: Pace, rule: ListRule, path: string, found: Found): Walk<void> {
  const { of, min = 0, isKept } = rule
  const kind = cursor.peek()
  const start = cursor.position
  if (kind !== 'array') throw wrongType(path, 'an array', kind)
  let count = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (element === 'null')
      throw wrongType(`${path}[${count}]`, of.kind === 'string' ? 'a string' : 'an object', element)
    yield* checkValue(cursor, pace, of, `${path}[${count}]`, found)
    if (cursor.position >= pace.limit) yield pace
    count++
  }
  if (count < min)
    throw new WireError(400, 'invalid_request_error', 'invalid_value', `'${path}' must not be an empty array.`, {
      param: path,
    })
  if (isKept === true) keep(found, { start, end: cursor.position }, path)
}

function keep({ lists }: Found, span: Span, param: string): void {
  if (lists.length === listsMax)
    throw new WireError(
      400,
      'invalid_request_error',
      'invalid_value',
      `The request has more than ${listsMax} lists of tools.`,
      { param },
    )
  lists.push(span)
}

/** Passes an object. Its type may stand behind other members, so what the type requires is checked at the end. */
function* checkObject(cursor: JsonCursor, pace: Pace, shape: Shape, path: string, found: Found): Walk<void> {
  const { names, table, rules } = shape
  const kinds: (JsonKind | undefined)[] = []
  let type = shape.defaultType
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(table)
    const rule = rules[code]
    const kind = cursor.peek()
    const start = cursor.position
    if (rule === undefined) {
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    } else {
      kinds[code] = kind
      yield* checkValue(cursor, pace, rule, `${path}.${names[code]}`, found)
      if (code === 0 && kind !== 'null') type = readType(cursor, start, kind, path)
    }
    if (cursor.position >= pace.limit) yield pace
  }
  checkType(shape, type, kinds, path, found)
}

function readType(cursor: JsonCursor, start: number, kind: JsonKind, path: string): string {
  if (kind !== 'string') throw wrongType(`${path}.type`, 'a string', kind)
  return cursor.position - start > typeBytesMax ? '' : cursor.stringAt(start, cursor.position)
}

function checkType(
  { names, types }: Shape,
  type: string | undefined,
  kinds: readonly (JsonKind | undefined)[],
  path: string,
  found: Found,
): void {
  if (type === undefined) {
    if (Object.keys(types).length > 0) throw missing(`${path}.type`)
    return
  }
  const rule = Object.hasOwn(types, type) ? types[type] : undefined
  if (rule === undefined) return
  if ('because' in rule) throw refused(`${path}.type`, { ...rule, because: `${shown(type)} ${rule.because}` })
  found.types.add(type)
  for (const [name, allowed] of Object.entries(rule.needs)) {
    const kind = kinds[names.indexOf(name)]
    if (kind === undefined || (kind === 'null' && !allowed.includes(kind))) throw missing(`${path}.${name}`)
    if (!allowed.includes(kind)) throw wrongType(`${path}.${name}`, expected(allowed), kind)
  }
}

function expected(kinds: readonly JsonKind[]): string {
  return kinds.map((kind) => (/^[ao]/.test(kind) ? `an ${kind}` : `a ${kind}`)).join(' or ')
}

import { JsonCursor, nameTable, type JsonKind, type NameTable } from '../bytes/json-cursor.ts'
import { skip, type Pace, type Walk } from '../bytes/pace.ts'
import { invalidRequest } from './error.ts'
import { checkChoice, checkNumber, readBoolean, type NumberRule } from './fields.ts'
import { missing, wrongType } from './request-fault.ts'

/** The shape of a value of a request. `null` counts as absent. */
export type Shape = AnyShape | TextShape | { readonly kind: 'boolean' } | NumberRule | ChoiceShape | ContainerShape

interface AnyShape {
  readonly kind: 'any'
}

interface TextShape {
  readonly kind: 'text'
}

interface ChoiceShape {
  readonly kind: 'choice'
  readonly values: readonly string[]
}

type ContainerShape = ListShape | TextOrShape | ObjectShape | TaggedShape

interface ListShape {
  readonly kind: 'list'
  readonly of: Shape
  /** Fewest elements. */
  readonly min: number
}

/** A string, or the other shape. */
interface TextOrShape {
  readonly kind: 'text or'
  readonly other: ListShape | ObjectShape
}

/** An object. Members that are not named pass unread. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly names: readonly string[]
  readonly table: NameTable
  readonly shapes: readonly Shape[]
  readonly required: readonly string[]
}

/** An object whose `type` names its shape. Objects of other types need nothing more. */
interface TaggedShape {
  readonly kind: 'tagged'
  readonly types: ReadonlyMap<string, ObjectShape>
  /** Whether other types are allowed. */
  readonly isOpen: boolean
}

export const any: Shape = { kind: 'any' }
export const text: Shape = { kind: 'text' }
export const flag: Shape = { kind: 'boolean' }

/** A string of these values. */
export function oneOf(...values: readonly string[]): Shape {
  return { kind: 'choice', values }
}

/** A number. @param min smallest value @param max largest value */
export function numberIn(min: number, max: number): Shape {
  return { kind: 'number', min, max }
}

/** An integer. @param min smallest value @param max largest value */
export function integerFrom(min: number, max: number = Number.MAX_SAFE_INTEGER): Shape {
  return { kind: 'integer', min, max }
}

/** A list. @param min fewest elements */
export function listOf(of: Shape, min = 0): ListShape {
  return { kind: 'list', of, min }
}

/** A string, or the other shape. */
export function textOr(other: ListShape | ObjectShape): Shape {
  return { kind: 'text or', other }
}

/** An object with these members. @param required names of members that must be there, and not null */
export function object(members: Readonly<Record<string, Shape>>, required: readonly string[] = []): ObjectShape {
  const names = Object.keys(members)
  return { kind: 'object', names, table: nameTable(names), shapes: Object.values(members), required }
}

/** An object whose `type` names its shape, as {@link object}. @param isOpen whether other types are allowed */
export function tagged(types: Readonly<Record<string, ObjectShape>>, isOpen: boolean): Shape {
  return { kind: 'tagged', types: new Map(Object.entries(types)), isOpen }
}

/** The place of a value in a request; {@link pathOf} writes it as `messages[0].content`. */
export interface Place {
  readonly name: string | number
  readonly within: Place | undefined
}

/**
 * Passes a value and checks it.
 *
 * @param isRequired null is a fault
 * @throws {WireError} 400
 */
export function* checkValue(
  cursor: JsonCursor,
  pace: Pace,
  shape: Shape,
  place: Place,
  isRequired = false,
): Walk<void> {
  const kind = cursor.peek()
  if (kind === 'null') return passNull(cursor, shape, place, isRequired)
  switch (shape.kind) {
    case 'any':
    case 'text':
      checkPlain(shape, kind, place)
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      break
    case 'boolean':
      readBoolean(cursor, pathOf(place))
      break
    case 'number':
    case 'integer':
      checkNumber(cursor, pathOf(place), shape)
      break
    case 'choice': {
      const start = cursor.position
      if (kind === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      checkChoice(cursor, start, pathOf(place), shape.values)
      break
    }
    default: {
      const container = containerOf(shape, kind, place)
      if (container !== undefined) yield* checkContainer(cursor, pace, container, place)
      else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    }
  }
  if (cursor.position >= pace.limit) yield pace
}

function passNull(cursor: JsonCursor, shape: Shape, place: Place, isRequired: boolean): void {
  if (isRequired && shape.kind !== 'any') throw wrongType(pathOf(place), described(shape), 'null')
  cursor.skip()
}

function checkPlain(shape: AnyShape | TextShape, kind: JsonKind, place: Place): void {
  if (shape.kind === 'text' && kind !== 'string') throw wrongType(pathOf(place), 'a string', kind)
}

/** The shape of a value with members or elements; undefined for a string that needs no more checks. */
function containerOf(
  shape: ContainerShape,
  kind: JsonKind,
  place: Place,
): Exclude<ContainerShape, TextOrShape> | undefined {
  if (shape.kind === 'text or' && kind === 'string') return undefined
  const container = shape.kind === 'text or' ? shape.other : shape
  if (kind !== shapeKinds[container.kind]) throw wrongType(pathOf(place), described(shape), kind)
  return container
}

/** The members of an object, or the elements of an array, that `peek` saw. */
function* checkContainer(
  cursor: JsonCursor,
  pace: Pace,
  shape: Exclude<ContainerShape, TextOrShape>,
  place: Place,
): Walk<void> {
  if (shape.kind === 'list') yield* checkList(cursor, pace, shape, place)
  else
    yield* checkMembers(
      cursor,
      pace,
      shape.kind === 'object' ? shape : yield* shapeByType(cursor, pace, shape, place),
      place,
    )
}

function* checkList(cursor: JsonCursor, pace: Pace, { of, min }: ListShape, place: Place): Walk<void> {
  let count = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    yield* checkValue(cursor, pace, of, { name: count, within: place }, true)
    count++
  }
  if (count < min) throw invalidRequest('invalid_value', `'${pathOf(place)}' must not be empty.`, pathOf(place))
}

function* checkMembers(cursor: JsonCursor, pace: Pace, shape: ObjectShape, place: Place): Walk<void> {
  const { names, table, shapes, required } = shape
  let found = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(table)
    const name = names[code]
    const member = shapes[code]
    if (name === undefined || member === undefined) {
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      if (cursor.position >= pace.limit) yield pace
      continue
    }
    found |= 1 << code
    yield* checkValue(cursor, pace, member, { name, within: place }, required.includes(name))
  }
  for (const name of required)
    if ((found & (1 << names.indexOf(name))) === 0) throw missing(pathOf({ name, within: place }))
}

const typeTable = nameTable(['type'])
const typeBytesMax = 128

/** The shape of the object at the cursor, by its `type`, which is usually its first member. */
function* shapeByType(cursor: JsonCursor, pace: Pace, { types, isOpen }: TaggedShape, place: Place): Walk<ObjectShape> {
  const ahead = new JsonCursor(cursor.bytes)
  ahead.position = cursor.position
  const typePlace = { name: 'type', within: place }
  for (let more = ahead.firstMember(); more; more = ahead.nextMember()) {
    const isType = ahead.nameCode(typeTable) === 0
    const kind: JsonKind = ahead.peek()
    const start = ahead.position
    if (!ahead.skip(pace.limit)) yield* skip(ahead, pace)
    if (!isType) continue
    if (kind !== 'string') throw wrongType(pathOf(typePlace), 'a string', kind)
    const type = ahead.position - start > typeBytesMax ? '' : ahead.stringAt(start, ahead.position)
    const shape = types.get(type)
    if (shape !== undefined) return shape
    if (isOpen) return anyObject
    throw invalidRequest(
      'invalid_value',
      `'${pathOf(typePlace)}' must be one of ${[...types.keys()].join(', ')}.`,
      pathOf(typePlace),
    )
  }
  throw missing(pathOf(typePlace))
}

const anyObject = object({})

const shapeKinds = { list: 'array', object: 'object', tagged: 'object' } as const

function described(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
    case 'choice':
      return 'a string'
    case 'list':
      return 'an array'
    case 'text or':
      return `a string or ${described(shape.other)}`
    case 'object':
    case 'tagged':
      return 'an object'
    case 'integer':
      return 'an integer'
    default:
      return `a ${shape.kind}`
  }
}

/** Writes a place as the `param` of an error. */
export function pathOf({ name, within }: Place): string {
  if (within === undefined) return String(name)
  return typeof name === 'number' ? `${pathOf(within)}[${name}]` : `${pathOf(within)}.${name}`
}

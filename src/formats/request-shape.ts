import { endOfPlainText, isAt, JsonCursor, nameTable, type JsonKind, type NameTable } from '../bytes/json-cursor.ts'
import { skip, sliceBytes, type Pace, type Walk } from '../bytes/pace.ts'
import { encode, latin1 } from '../bytes/text.ts'
import { CheckedNames, memberName, SeenNames } from './checked-names.ts'
import { invalidRequest, WireError } from './error.ts'
import { checkChoice, checkNumber, readBoolean, type NumberRule } from './fields.ts'
import { missing, shown, wrongType } from './request-fault.ts'

/** The shape of a value of a request. `null` counts as absent. */
export type Shape = EitherShape | OneShape

type OneShape =
  | PlainShape
  | { readonly kind: 'boolean' }
  | NumberRule
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly table: NameTable }
  | RefusedShape
  | ContainerShape

type PlainShape = { readonly kind: 'any' | 'text' } | NotedShape

/** Any value; see {@link noted}. */
interface NotedShape {
  readonly kind: 'noted'
  readonly note: string
}

type ContainerShape = ListShape | ObjectShape | TaggedShape

/** A shape for each kind of value. */
interface EitherShape {
  readonly kind: 'either'
  /** The allowed values, for the error. */
  readonly expected: string
  readonly shapes: Readonly<{ [Kind in JsonKind]?: OneShape }>
}

/** A value that this service refuses. */
interface RefusedShape {
  readonly kind: 'refused'
  /** Completes the sentence about the field. */
  readonly because: string
  /** It is a boolean, and only `true` is refused. */
  readonly onlyTrue: boolean
}

interface ListShape {
  readonly kind: 'list'
  readonly of: Shape
  /** Fewest elements. */
  readonly min: number
  /** Its offsets are kept in {@link Found.lists}. */
  readonly isKept: boolean
}

/** An object. Members that are not named pass unread. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly names: readonly string[]
  readonly table: NameTable
  readonly shapes: readonly Shape[]
  readonly required: readonly string[]
  readonly byType: ByType | undefined
  readonly keeps: Keeps | undefined
  /** Other spellings of its names, and repeats, are refused. */
  readonly checked?: CheckedNames
  /** It has no members that are checked. */
  readonly isAny: boolean
}

/** Objects of a shape whose offsets are kept in {@link Found.objects}. */
interface Keeps {
  /** Names of members whose offsets are kept too. */
  readonly members: readonly string[]
  /** Only objects of this type. Absent: all. */
  readonly type?: string
  /** Only objects with one of these members. */
  readonly needs?: readonly string[]
}

/** Further rules for an object by its `type`, which is its first name. */
interface ByType {
  readonly types: Readonly<Record<string, TypeRule>>
  /** The type of an object without one. Absent: a type is required. */
  readonly defaultType: string | undefined
}

/** The members that objects of one type must have, with the kinds of value they may have; or why it is refused. */
export type TypeRule = { readonly needs: Readonly<Record<string, readonly JsonKind[]>> } | { readonly because: string }

/** An object whose `type` names its shape. Objects of other types need nothing more. */
interface TaggedShape {
  readonly kind: 'tagged'
  readonly types: ReadonlyMap<string, ObjectShape>
  /** Whether other types are allowed. */
  readonly isOpen: boolean
}

export const anyValue: OneShape = { kind: 'any' }
export const text: OneShape = { kind: 'text' }
export const flag: OneShape = { kind: 'boolean' }

/** Any value. The note is kept in {@link Found.notes}. */
export function noted(note: string): OneShape {
  return { kind: 'noted', note }
}

/** A string of these values. */
export function oneOf(...values: readonly string[]): OneShape {
  return { kind: 'choice', values, table: nameTable(values) }
}

/** A number. @param min smallest value @param max largest value */
export function numberFrom(min: number, max: number): OneShape {
  return { kind: 'number', min, max }
}

/** An integer. @param min smallest value @param max largest value */
export function integerFrom(min: number, max: number = Number.MAX_SAFE_INTEGER): OneShape {
  return { kind: 'integer', min, max }
}

/** A value that this service refuses. @param because completes the sentence about the field */
export function refused(because: string, onlyTrue = false): OneShape {
  return { kind: 'refused', because, onlyTrue }
}

/** A list. @param min fewest elements @param isKept its offsets are kept in {@link Found.lists} */
export function list(of: Shape, min = 0, isKept = false): ListShape {
  return { kind: 'list', of, min, isKept }
}

/** A shape for each kind of value. @param expected the allowed values, for the error */
export function either(expected: string, shapes: EitherShape['shapes']): EitherShape {
  return { kind: 'either', expected, shapes }
}

/** A string, or the other shape. */
export function textOr(other: ListShape | ObjectShape): EitherShape {
  return either(`a string or ${described(other)}`, { string: text, [kindOf[other.kind]]: other })
}

/** A list, or its only element without one, as readers of protocol buffers take it. @param min fewest elements */
export function oneOrList(of: ObjectShape, min = 0): EitherShape {
  return either('an array of objects or an object', { array: list(of, min), object: of })
}

/** An object with these members. @param required names of members that must be there, and not null */
export function object(members: Readonly<Record<string, Shape>>, required: readonly string[] = []): ObjectShape {
  const names = Object.keys(members)
  return {
    kind: 'object',
    names,
    table: nameTable(names),
    shapes: Object.values(members),
    required,
    byType: undefined,
    keeps: undefined,
    isAny: names.length === 0 && required.length === 0,
  }
}

/** The object decides about money or limits, so all programs must read the same in it: see {@link CheckedNames}. */
export function readOnce(shape: ObjectShape, hasTwoSpellings = false): ObjectShape {
  return { ...shape, checked: new CheckedNames(shape.names, hasTwoSpellings) }
}

/** Keeps the offsets of objects of a shape, and of these members. @param only which objects. Default: all */
export function kept(
  shape: ObjectShape,
  members: readonly string[],
  only: Pick<Keeps, 'type' | 'needs'> = {},
): ObjectShape {
  return { ...shape, keeps: { members, ...only }, isAny: false }
}

/**
 * An object whose members have these shapes for every `type`. The rules of its type are checked after its members.
 *
 * @param defaultType the type of an object without one. Absent: a type is required
 */
export function typed(
  members: Readonly<Record<string, Shape>>,
  types: Readonly<Record<string, TypeRule>>,
  defaultType?: string,
): ObjectShape {
  return { ...object({ type: anyValue, ...members }), byType: { types, defaultType } }
}

/** An object whose `type` names its shape, as {@link object}. @param isOpen whether other types are allowed */
export function tagged(types: Readonly<Record<string, ObjectShape>>, isOpen: boolean): OneShape {
  return { kind: 'tagged', types: new Map(Object.entries(types).map(withType)), isOpen }
}

/** The shape of one type. Each `type` in the object must have this value, so a repeated one cannot mislead a reader. */
function withType([type, shape]: readonly [string, ObjectShape]): [string, ObjectShape] {
  const names = [...shape.names, 'type']
  const shapes = [...shape.shapes, oneOf(type)]
  const checked = shape.checked && { checked: new CheckedNames(names) }
  return [
    type,
    {
      ...shape,
      ...checked,
      names,
      table: nameTable(names),
      shapes,
      required: [...shape.required, 'type'],
      isAny: false,
    },
  ]
}

/** The place of a value in a request; {@link pathOf} writes it as `messages[0].content`. */
export interface Place {
  readonly name: string | number
  readonly within: Place | undefined
}

/** A walk through a request, with the facts that it has found. */
export interface ShapeWalk {
  readonly cursor: JsonCursor
  readonly pace: Pace
  readonly found: Found
}

/** Facts that a walk finds. */
export interface Found {
  /** Types of objects that are {@link typed}, if their shape has them. */
  readonly types: Set<string>
  /** Offsets of lists that are kept. At most 1,000: more are refused. */
  readonly lists: Span[]
  /** Values that are {@link noted}. At most 10,000: more are refused. */
  readonly notes: Note[]
  /** Offsets of objects that are kept. At most 10,000: more are refused. */
  readonly objects: KeptObject[]
}

/** A value that is {@link noted}. */
export interface Note extends Span {
  readonly note: string
}

/** An object, and its members that are kept, by their names. */
export interface KeptObject extends Span {
  /** Their values. Of a repeated member the last one. */
  readonly members: Readonly<Record<string, Span>>
}

/** A value, by its offsets in the body. */
export interface Span {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** Starts a walk that has found nothing yet. */
export function shapeWalk(cursor: JsonCursor, pace: Pace): ShapeWalk {
  return { cursor, pace, found: { types: new Set(), lists: [], notes: [], objects: [] } }
}

/** A walk that has ended. */
const ended: Walk<void> = (function* () {})()

/**
 * Checks the value at the cursor. Most values are short and are passed at once: a walk of their own would take longer
 * to begin than they to check.
 *
 * @param isRequired null is a fault
 * @returns the rest of the check
 * @throws {WireError} 400
 */
export function checkValue(
  walk: ShapeWalk,
  given: Shape,
  name: string | number,
  within: Place | undefined,
  isRequired = false,
): Walk<void> {
  const { cursor, pace } = walk
  const kind = cursor.peek()
  if (isOpenTo(given, kind)) return cursor.skip(pace.limit) ? ended : skip(cursor, pace)
  if (passShort(cursor, given, kind)) return ended
  const place = { name, within }
  const shape = given.kind === 'either' ? given.shapes[kind] : given
  return (shape && containerWalk(walk, shape, kind, place)) ?? checkAny(walk, given, place, isRequired)
}

/** The check of a container, if its shape is known at once. */
function containerWalk(walk: ShapeWalk, shape: OneShape, kind: JsonKind, place: Place): Walk<void> | undefined {
  if (shape.kind === 'list') return kind === 'array' ? checkList(walk, shape, place) : undefined
  if (kind !== 'object' || (shape.kind !== 'object' && shape.kind !== 'tagged')) return undefined
  const known = shape.kind === 'object' ? shape : shapeAtOnce(walk.cursor, shape)
  return known && checkObject(walk, known, place)
}

/** Passes a value and checks it. */
function* checkAny(walk: ShapeWalk, given: Shape, place: Place, isRequired: boolean): Walk<void> {
  const { cursor, pace } = walk
  const kind = cursor.peek()
  if (kind === 'null') return passNull(cursor, given, place, isRequired)
  const shape = given.kind === 'either' ? shapeFor(given, kind, place) : given
  switch (shape.kind) {
    case 'text':
    case 'any':
    case 'noted':
      yield* checkPlain(walk, shape, place)
      break
    case 'choice': {
      const start = cursor.position
      if (kind === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      checkChoice(cursor, start, pathOf(place), shape.values)
      break
    }
    case 'list':
    case 'object':
    case 'tagged':
      checkKind(shape, kind, place)
      yield* checkContainer(walk, shape, place)
      break
    default:
      checkShort(cursor, shape, place)
  }
}

/** Passes a short value that is of its shape; false, without moving, for any other. */
function passShort(cursor: JsonCursor, shape: Shape, kind: JsonKind): boolean {
  const start = cursor.position
  switch (shape.kind) {
    case 'boolean':
      if (kind !== 'boolean') return false
      cursor.boolean()
      return true
    case 'number':
    case 'integer':
      if (kind === 'number' && isWithin(cursor.number(), shape)) return true
      break
    case 'choice':
      if (kind === 'string' && endOfPlainText(cursor.bytes, start + 1) - start <= choiceBytesMax) {
        cursor.skip()
        if (cursor.stringCode(shape.table, start, cursor.position) !== -1) return true
      }
      break
    default:
      return false
  }
  cursor.position = start
  return false
}

const choiceBytesMax = 64

function isWithin(value: number, { kind, min, max }: NumberRule): boolean {
  return value >= min && value <= max && (kind === 'number' || Number.isInteger(value))
}

/** Whether every value of this kind has the shape, so that it need only be passed. */
function isOpenTo(shape: Shape, kind: JsonKind): boolean {
  switch (shape.kind) {
    case 'any':
      return kind !== 'null'
    case 'text':
      return kind === 'string'
    case 'object':
      return shape.isAny && kind === 'object'
    case 'either': {
      const of = shape.shapes[kind]
      return of !== undefined && isOpenTo(of, kind)
    }
    default:
      return false
  }
}

function passNull(cursor: JsonCursor, shape: Shape, place: Place, isRequired: boolean): void {
  if (isRequired && shape.kind !== 'any') throw wrongType(pathOf(place), described(shape), 'null')
  cursor.skip()
}

function shapeFor({ shapes, expected }: EitherShape, kind: JsonKind, place: Place): OneShape {
  const shape = shapes[kind]
  if (shape === undefined) throw wrongType(pathOf(place), expected, kind)
  return shape
}

function* checkPlain({ cursor, pace, found }: ShapeWalk, shape: PlainShape, place: Place): Walk<void> {
  const kind = cursor.peek()
  const start = cursor.position
  if (shape.kind === 'text' && kind !== 'string') throw wrongType(pathOf(place), 'a string', kind)
  if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
  if (shape.kind === 'noted') addNote(found, { note: shape.note, start, end: cursor.position }, place)
}

const notesMax = 10_000

function addNote({ notes }: Found, note: Note, place: Place): void {
  if (notes.length === notesMax)
    throw invalidRequest('invalid_value', `The request has more than ${notesMax} such values.`, pathOf(place))
  notes.push(note)
}

function checkKind(shape: ContainerShape, kind: JsonKind, place: Place): void {
  if (kind !== kindOf[shape.kind]) throw wrongType(pathOf(place), described(shape), kind)
}

/** Passes a short value and checks it. */
function checkShort(
  cursor: JsonCursor,
  shape: NumberRule | RefusedShape | { readonly kind: 'boolean' },
  place: Place,
): void {
  switch (shape.kind) {
    case 'boolean':
      readBoolean(cursor, pathOf(place))
      return
    case 'refused':
      if (!shape.onlyTrue || readBoolean(cursor, pathOf(place))) throw unsupported(place, shape.because)
      return
    default:
      checkNumber(cursor, pathOf(place), shape)
  }
}

/** The members of an object, or the elements of an array, that `peek` saw. */
function* checkContainer(walk: ShapeWalk, shape: ContainerShape, place: Place): Walk<void> {
  if (shape.kind === 'list') return yield* checkList(walk, shape, place)
  yield* checkObject(walk, shape.kind === 'tagged' ? yield* shapeByType(walk, shape, place) : shape, place)
}

function checkObject(walk: ShapeWalk, shape: ObjectShape, place: Place): Walk<void> {
  return shape.byType === undefined ? checkMembers(walk, shape, place) : checkTyped(walk, shape, shape.byType, place)
}

function* checkList(walk: ShapeWalk, { of, min, isKept }: ListShape, place: Place): Walk<void> {
  const { cursor, pace, found } = walk
  const start = cursor.position
  let count = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    yield* checkValue(walk, of, count, place, true)
    if (cursor.position >= pace.limit) yield pace
    count++
  }
  if (count < min)
    throw invalidRequest('invalid_value', `'${pathOf(place)}' must not be an empty array.`, pathOf(place))
  if (isKept) keep(found, { start, end: cursor.position }, place)
}

const listsMax = 1_000

function keep({ lists }: Found, span: Span, place: Place): void {
  if (lists.length === listsMax)
    throw invalidRequest('invalid_value', `The request has more than ${listsMax} lists of tools.`, pathOf(place))
  lists.push(span)
}

const objectsMax = 10_000

/** Keeps the offsets of an object that starts here. */
function keeperOf({ members: names, type, needs }: Keeps, start: number) {
  const members: Record<string, Span> = {}
  let isWanted = needs === undefined
  return {
    note(name: string, value: Span): void {
      if (!names.includes(name)) return
      members[name] = value
      isWanted ||= needs?.includes(name) === true
    },
    keep({ objects }: Found, end: number, found: string | undefined, place: Place): void {
      if (type !== found || !isWanted) return
      if (objects.length === objectsMax)
        throw invalidRequest(
          'invalid_value',
          `The request has more than ${objectsMax} pieces of reasoning.`,
          pathOf(place),
        )
      objects.push({ start, end, members })
    },
  }
}

function* checkMembers(walk: ShapeWalk, shape: ObjectShape, place: Place): Walk<void> {
  const { cursor, pace, found } = walk
  const { names, table, shapes, required, keeps } = shape
  const keeper = keeps && keeperOf(keeps, cursor.position)
  const spelled = shape.checked && new SeenNames(shape.checked, () => `${pathOf(place)}.`)
  let seen = 0
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(table)
    const name = names[code]
    spelled?.add(code, memberName(cursor, names, code))
    const member = shapes[code]
    if (name === undefined || member === undefined) {
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      if (cursor.position >= pace.limit) yield pace
      continue
    }
    seen |= 1 << code
    if (keeper !== undefined) cursor.peek()
    const start = cursor.position
    yield* checkValue(walk, member, name, place, required.includes(name))
    if (cursor.position >= pace.limit) yield pace
    keeper?.note(name, { start, end: cursor.position })
  }
  for (const name of required)
    if ((seen & (1 << names.indexOf(name))) === 0) throw missing(pathOf({ name, within: place }))
  keeper?.keep(found, cursor.position, undefined, place)
}

/** As {@link checkMembers}, with the type that may stand behind the members. */
function* checkTyped(walk: ShapeWalk, shape: ObjectShape, byType: ByType, place: Place): Walk<void> {
  const { cursor, pace, found } = walk
  const { names, table, shapes, keeps } = shape
  const keeper = keeps && keeperOf(keeps, cursor.position)
  const kinds: (JsonKind | undefined)[] = []
  let type = byType.defaultType
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(table)
    const name = names[code]
    const member = shapes[code]
    const kind = cursor.peek()
    const start = cursor.position
    if (name === undefined || member === undefined) {
      if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
      if (cursor.position >= pace.limit) yield pace
      continue
    }
    kinds[code] = kind
    yield* checkValue(walk, member, name, place)
    if (cursor.position >= pace.limit) yield pace
    keeper?.note(name, { start, end: cursor.position })
    if (code === 0 && kind !== 'null') type = readType(cursor, start, kind, place)
  }
  if (type === undefined) throw missing(pathOf({ name: 'type', within: place }))
  keeper?.keep(found, cursor.position, type, place)
  const rule = Object.hasOwn(byType.types, type) ? byType.types[type] : undefined
  if (rule === undefined) return
  found.types.add(type)
  checkType(type, rule, (name) => kinds[names.indexOf(name)], place)
}

/** Checks the required members of an object of this type. @param kindOfMember the kind of a member's value */
function checkType(
  type: string,
  rule: TypeRule,
  kindOfMember: (name: string) => JsonKind | undefined,
  place: Place,
): void {
  if ('because' in rule) throw unsupported({ name: 'type', within: place }, `${shown(type)} ${rule.because}`)
  for (const [name, allowed] of Object.entries(rule.needs))
    checkNeeded(kindOfMember(name), allowed, { name, within: place })
}

function checkNeeded(kind: JsonKind | undefined, allowed: readonly JsonKind[], place: Place): void {
  if (kind === undefined || (kind === 'null' && !allowed.includes(kind))) throw missing(pathOf(place))
  if (allowed.includes(kind)) return
  const expected = allowed.map((each) => (/^[ao]/.test(each) ? `an ${each}` : `a ${each}`)).join(' or ')
  throw wrongType(pathOf(place), expected, kind)
}

const typeBytesMax = 128

/** The type from `start` to the cursor; empty if it is longer than any type that is known. */
function readType(cursor: JsonCursor, start: number, kind: JsonKind, within: Place): string {
  if (kind !== 'string') throw wrongType(pathOf({ name: 'type', within }), 'a string', kind)
  return cursor.position - start > typeBytesMax ? '' : cursor.stringAt(start, cursor.position)
}

const typeTable = nameTable(['type'])

const typeFirst = encode('{"type":"')

/** The shape of an object that begins with a type that is known. */
function shapeAtOnce({ bytes, position }: JsonCursor, { types }: TaggedShape): ObjectShape | undefined {
  if (!isAt(bytes, position, typeFirst)) return undefined
  const start = position + typeFirst.length
  const end = endOfPlainText(bytes, start)
  return end - start > typeBytesMax || bytes[end] !== quote ? undefined : types.get(latin1(bytes, start, end))
}

const quote = 0x22

/** The shape of the object at the cursor, by its `type`, which is usually its first member. */
function* shapeByType(
  { cursor, pace: given }: ShapeWalk,
  { types, isOpen }: TaggedShape,
  place: Place,
): Walk<ObjectShape> {
  const ahead = new JsonCursor(cursor.bytes)
  ahead.position = cursor.position
  // A pace of its own: the walk itself goes on from the beginning of the object, in slices of its own.
  const pace = { limit: given.limit === Infinity ? Infinity : cursor.position + sliceBytes }
  for (let more = ahead.firstMember(); more; more = ahead.nextMember()) {
    const isType = ahead.nameCode(typeTable) === 0
    const kind: JsonKind = ahead.peek()
    const start = ahead.position
    if (!ahead.skip(pace.limit)) yield* skip(ahead, pace)
    if (!isType) continue
    const shape = types.get(readType(ahead, start, kind, place))
    if (shape !== undefined) return shape
    if (isOpen) return anyObject
    const path = pathOf({ name: 'type', within: place })
    throw invalidRequest('invalid_value', `'${path}' must be one of ${[...types.keys()].join(', ')}.`, path)
  }
  throw missing(pathOf({ name: 'type', within: place }))
}

const anyObject = object({})

/** The error for a value that this service refuses. */
function unsupported(place: Place, because: string): WireError {
  const param = pathOf(place)
  const message = `'${param}' is not supported: ${because}.`
  return new WireError(400, 'invalid_request_error', 'unsupported_parameter', message, { param })
}

const kindOf = { list: 'array', object: 'object', tagged: 'object' } as const

function described(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
    case 'choice':
      return 'a string'
    case 'list':
      return 'an array'
    case 'either':
      return shape.expected
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

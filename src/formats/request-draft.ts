import type { JsonObject } from '../base/json-value.ts'
import { JsonCursor } from '../bytes/json-cursor.ts'
import { join } from '../bytes/splice.ts'
import { encode, indexOfBytes } from '../bytes/text.ts'
import type { Ask, Member } from './ask.ts'
import { encodeJson, objectOf, parseJsonBytes } from './exact-json.ts'
import { spliceRequest } from './splice-request.ts'

/** Changes of top-level members of a request. Members that stay are not parsed, and keep their bytes. */
export class RequestDraft {
  readonly #ask: Ask
  /** Members that were parsed or changed; undefined for one that was removed. Most requests need no such table. */
  #values: Map<string, unknown> | undefined
  #lists: Map<string, readonly JsonObject[]> | undefined
  #changed: Set<string> | undefined
  /** Bytes of the objects of lists, as the caller wrote them. */
  #bytes: Map<JsonObject, Uint8Array> | undefined

  constructor(ask: Ask) {
    this.#ask = ask
  }

  get isChanged(): boolean {
    return this.#changed !== undefined
  }

  /** Whether the caller's body has one of these texts. Escapes may hide them. */
  mentions(texts: readonly Uint8Array[]): boolean {
    return texts.some((text) => indexOfBytes(this.#ask.body, text) !== -1)
  }

  /** How many times the caller's body has this text. Escapes may hide some. */
  times(text: Uint8Array): number {
    const { body } = this.#ask
    let count = 0
    for (let at = indexOfBytes(body, text); at !== -1; at = indexOfBytes(body, text, at + text.length)) count += 1
    return count
  }

  /** Bytes of the caller's body. */
  get length(): number {
    return this.#ask.body.length
  }

  /** Bytes of a member as the caller wrote it; 0 without one. */
  size(name: string): number {
    const member = this.#member(name)
    return member === undefined ? 0 : member.end - member.valueStart
  }

  /** Elements of a list of the caller; 0 without one. */
  count(name: string): number {
    const cursor = this.#cursorAt(this.#member(name))
    let count = 0
    if (cursor?.peek() !== 'array') return count
    for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
      cursor.skip()
      count += 1
    }
    return count
  }

  /** The value of a member that is not a list of objects; undefined without one. `null` counts as absent. */
  get(name: string): unknown {
    if (this.#values?.has(name) === true) return this.#values.get(name)
    const member = this.#member(name)
    if (member === undefined) return undefined
    const value = parseJsonBytes(this.#ask.body.subarray(member.valueStart, member.end)) ?? undefined
    this.#values ??= new Map()
    this.#values.set(name, value)
    return value
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  set(name: string, value: unknown): void {
    this.#values ??= new Map()
    this.#values.set(name, value)
    this.#change(name)
  }

  #change(name: string): void {
    this.#changed ??= new Set()
    this.#changed.add(name)
  }

  /** Removes a member. Returns whether there was one. */
  remove(name: string): boolean {
    if (!this.has(name)) return false
    this.set(name, undefined)
    return true
  }

  /** The objects of a list, such as `messages`. Undefined: there is no list of objects. */
  objects(name: string): readonly JsonObject[] | undefined {
    const known = this.#lists?.get(name)
    if (known !== undefined) return known
    const member = this.#member(name)
    const objects = member === undefined ? undefined : this.#readObjects(member)
    if (objects !== undefined) (this.#lists ??= new Map()).set(name, objects)
    return objects
  }

  /** Replaces a list. Objects that `objects` returned keep the caller's bytes. */
  setObjects(name: string, objects: readonly JsonObject[]): void {
    this.#lists ??= new Map()
    this.#lists.set(name, objects)
    this.#change(name)
  }

  /** The body of the request with the changes. */
  body(): Uint8Array {
    const values = [...(this.#changed ?? [])].map((name) => [name, this.#encoded(name)] as const)
    const drop = values.filter(([, value]) => value === undefined).map(([name]) => name)
    return join(spliceRequest(this.#ask, { model: this.#ask.model, overrides: Object.fromEntries(values), drop }))
  }

  #encoded(name: string): unknown {
    const objects = this.#lists?.get(name)
    if (objects === undefined) return this.#values?.get(name)
    const pieces = objects.flatMap((object, index) => [
      ...(index === 0 ? [] : [comma]),
      this.#bytes?.get(object) ?? encodeJson(object),
    ])
    return join([open, ...pieces, close])
  }

  #member(name: string): Member | undefined {
    const { members } = this.#ask
    for (let position = members.length - 1; position >= 0; position--)
      if (members[position]?.name === name) return members[position]
    return undefined
  }

  #cursorAt(member: Member | undefined): JsonCursor | undefined {
    if (member === undefined) return undefined
    const cursor = new JsonCursor(this.#ask.body)
    cursor.position = member.valueStart
    return cursor
  }

  #readObjects(member: Member): readonly JsonObject[] | undefined {
    const { body } = this.#ask
    const cursor = this.#cursorAt(member)
    if (cursor?.peek() !== 'array') return undefined
    const objects: JsonObject[] = []
    for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
      const start = cursor.position
      if (cursor.peek() !== 'object') return undefined
      cursor.skip()
      const bytes = body.subarray(start, cursor.position)
      const object = objectOf(parseJsonBytes(bytes))
      this.#bytes ??= new Map()
      this.#bytes.set(object, bytes)
      objects.push(object)
    }
    return objects
  }
}

const open = encode('[')
const comma = encode(',')
const close = encode(']')

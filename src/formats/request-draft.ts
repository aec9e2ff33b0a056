import type { JsonObject } from '../base/json-value.ts'
import { JsonCursor } from '../bytes/json-cursor.ts'
import { join } from '../bytes/splice.ts'
import { encode } from '../bytes/text.ts'
import type { Ask } from './ask.ts'
import { encodeJson, objectOf, parseJsonBytes } from './exact-json.ts'
import { spliceRequest } from './splice-request.ts'

/** Changes of top-level members of a request. Members that stay are not parsed, and keep their bytes. */
export class RequestDraft {
  readonly #ask: Ask
  readonly #read = new Map<string, unknown>()
  readonly #bytes = new Map<JsonObject, Uint8Array>()
  /** Undefined: removed. Bytes are JSON. */
  readonly #changed = new Map<string, unknown>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** The objects in a list; those that `setObjects` gets back keep their bytes. Undefined: not a list of objects. */
  objects(name: string): readonly JsonObject[] | undefined {
    const member = this.#changed.has(name) ? undefined : this.#ask.members.findLast((each) => each.name === name)
    if (member === undefined) return undefined
    const cursor = new JsonCursor(this.#ask.body)
    cursor.position = member.valueStart
    if (cursor.peek() !== 'array') return undefined
    const objects: JsonObject[] = []
    for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
      const start = cursor.position
      if (cursor.peek() !== 'object') return undefined
      cursor.skip()
      const bytes = this.#ask.body.subarray(start, cursor.position)
      const object = objectOf(parseJsonBytes(bytes))
      this.#bytes.set(object, bytes)
      objects.push(object)
    }
    return objects
  }

  setObjects(name: string, objects: readonly JsonObject[]): void {
    const pieces = objects.flatMap((object, index) => [
      ...(index === 0 ? [] : [comma]),
      this.#bytes.get(object) ?? encodeJson(object),
    ])
    this.#changed.set(name, join([open, ...pieces, close]))
  }

  get isChanged(): boolean {
    return this.#changed.size > 0
  }

  /** The value of a member; undefined without one. `null` counts as absent. */
  get(name: string): unknown {
    if (this.#changed.has(name)) return this.#changed.get(name)
    if (!this.#read.has(name)) this.#read.set(name, this.#parse(name))
    return this.#read.get(name)
  }

  has(name: string): boolean {
    return this.get(name) !== undefined
  }

  set(name: string, value: unknown): void {
    this.#changed.set(name, value)
  }

  /** Removes a member. Returns whether there was one. */
  remove(name: string): boolean {
    if (!this.has(name)) return false
    this.#changed.set(name, undefined)
    return true
  }

  /** The body of the request with the changes. */
  body(): Uint8Array {
    const drop = [...this.#changed].filter(([, value]) => value === undefined).map(([name]) => name)
    return join(
      spliceRequest(this.#ask, { model: this.#ask.model, overrides: Object.fromEntries(this.#changed), drop }),
    )
  }

  #parse(name: string): unknown {
    const member = this.#ask.members.findLast((each) => each.name === name)
    if (member === undefined) return undefined
    return parseJsonBytes(this.#ask.body.subarray(member.valueStart, member.end)) ?? undefined
  }
}

const open = encode('[')
const comma = encode(',')
const close = encode(']')

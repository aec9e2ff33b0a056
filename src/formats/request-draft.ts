import { join } from '../bytes/splice.ts'
import type { Ask } from './ask.ts'
import { parseJsonBytes } from './exact-json.ts'
import { spliceRequest } from './splice-request.ts'

/** Changes of top-level members of a request. Members that stay are not parsed, and keep their bytes. */
export class RequestDraft {
  readonly #ask: Ask
  readonly #read = new Map<string, unknown>()
  /** Undefined: removed. */
  readonly #changed = new Map<string, unknown>()

  constructor(ask: Ask) {
    this.#ask = ask
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

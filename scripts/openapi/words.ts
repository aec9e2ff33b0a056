import type { JsonObject } from '../../src/base/json-value.ts'

/** What the route table does not say of a route. */
export interface RouteWords {
  /** What it does, in a few words. */
  readonly does: string
  /** A sentence more. */
  readonly note?: string
  /** Parameters of the query, by their names; their schema, or a description of a text. */
  readonly query?: Readonly<Record<string, string | JsonObject>>
  /** Names of parameters of the query that must be there. */
  readonly needs?: readonly string[]
  /** Headers that must be there, by their names. */
  readonly headers?: Readonly<Record<string, JsonObject>>
  /** The body, if neither its format nor a shape of the route has it. */
  readonly body?: JsonObject
  /** The body may be left out. */
  readonly mayLackBody?: true
  /** The answer: a schema of JSON, or media types with their descriptions. */
  readonly returns: JsonObject | { readonly media: Readonly<Record<string, string>> }
  /** Media types of other answers. */
  readonly also?: Readonly<Record<string, string>>
  /** Status of the answer. Default: 200. */
  readonly status?: number
}

/** Words of routes, by method and path, in which all open places have names. */
export type WordList = Readonly<Record<string, RouteWords>>

/** Text of a stream of events. */
export const eventStream = 'text/event-stream'

import { isDeepStrictEqual } from 'node:util'
import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { editConfig, valueAt, type ConfigEdit } from './edit-config.ts'

/** A limit to add, to change or to remove. */
export interface LimitDraft {
  /** Index in `limits`. Absent: it is added as the last one. */
  readonly place?: number | undefined
  /** The whole entry; `null`: it is removed. Absent: it stays as it is. */
  readonly limit?: JsonObject | null | undefined
}

/** The entry of `limits` with that index, if there is one. @throws {ConfigError} when the text is not JSON */
export function limitAt(text: string | undefined, place: number | undefined): JsonObject | undefined {
  const entry = text === undefined || place === undefined ? undefined : valueAt(text, ['limits', place])
  return isRecord(entry) ? entry : undefined
}

/**
 * The text of access.json with the draft in it. Comments and all other values stay. The result is not checked.
 *
 * @param present `undefined`: there is no file
 * @throws {ConfigError} when the text is not JSON
 */
export function withLimit(present: string | undefined, { place, limit }: LimitDraft): string {
  const text = present ?? '{\n}\n'
  if (limit === undefined) return text
  if (place !== undefined) return editConfig(text, changesOf(limitAt(text, place) ?? {}, limit, place))
  const entries = valueAt(text, ['limits'])
  // An entry on one line: to add it to an empty list, another one stands in its place first.
  if (Array.isArray(entries) && entries.length > 0)
    return editConfig(text, [{ kind: 'insert', path: ['limits', -1], value: limit }])
  return editConfig(text, [
    { kind: 'set', path: ['limits'], value: [0] },
    { kind: 'insert', path: ['limits', 1], value: limit },
    { kind: 'remove', path: ['limits', 0] },
  ])
}

/** Members that stay the same are not touched, and keep their comments. */
function changesOf(present: JsonObject, limit: JsonObject | null, place: number): readonly ConfigEdit[] {
  if (limit === null) return [{ kind: 'remove', path: ['limits', place] }]
  const path = (name: string) => ['limits', place, name]
  const gone = Object.keys(present).filter((name) => !Object.hasOwn(limit, name))
  const changed = Object.entries(limit).filter(([name, value]) => !isDeepStrictEqual(present[name], value))
  return [
    ...changed.map(([name, value]): ConfigEdit => ({ kind: 'set', path: path(name), value })),
    ...gone.map((name): ConfigEdit => ({ kind: 'remove', path: path(name) })),
  ]
}

import type { JsonObject } from '../../base/json-value.ts'
import { soundArguments } from '../call-arguments.ts'
import { isObject, readArguments, textOf } from '../exact-json.ts'
import { madeUpId } from '../made-up-id.ts'

/**
 * A `tool_use` block with an id of its own, and an input that is an object. The same block if it has both.
 *
 * @param ids of the calls before it; its own is added
 */
export function withSoundCall(block: JsonObject, ids: Set<string>): JsonObject {
  const given = textOf(block['id']) ?? ''
  const isOwn = given !== '' && !ids.has(given)
  const id = isOwn ? given : madeUpId('toolu_')
  ids.add(id)
  if (isOwn && isObject(block['input'])) return block
  return { ...block, id, input: inputOf(block['input']) }
}

function inputOf(input: unknown): JsonObject {
  if (isObject(input)) return input
  const text = textOf(input) ?? ''
  return readArguments(soundArguments(text) ?? text)
}

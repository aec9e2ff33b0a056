import { isRecord, type JsonObject } from '../base/json-value.ts'
import type { ModelPage, UpstreamModel } from '../protocols/protocol.ts'

const nameLengthMax = 256
const cursorLengthMax = 4_096
/** Control characters, direction overrides and the like. Names that contain them are rejected. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/**
 * Reads one page of a list of models in its usual shapes: `data[].id`, `models[].name`, a bare array. `undefined` for
 * anything else.
 *
 * @param cursorOf returns the cursor of the next page
 */
export function modelPage(body: Uint8Array, cursorOf?: (answer: JsonObject) => unknown): ModelPage | undefined {
  const answer = parse(body)
  const list = isRecord(answer) ? (answer['data'] ?? answer['models']) : answer
  if (!Array.isArray(list)) return undefined
  const models = list.flatMap((entry: unknown) => modelOf(entry) ?? [])
  const cursor = isRecord(answer) ? cursorOf?.(answer) : undefined
  return { models, ...(isCursor(cursor) ? { cursor } : {}) }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined // The caller reports it as "no list of models".
  }
}

function isCursor(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= cursorLengthMax && value.isWellFormed()
}

function modelOf(entry: unknown): UpstreamModel | undefined {
  if (!isRecord(entry)) return undefined
  const id = entry['id'] ?? entry['name']
  if (typeof id !== 'string') return undefined
  const name = id.replace(/^models\//, '')
  if (name === '' || name.length > nameLengthMax || invisible.test(name)) return undefined
  const context = contextOf(entry)
  return context === undefined ? { name } : { name, context }
}

/** The context size by its usual names. llama.cpp has two: the size it runs with, then the size of the training. */
function contextOf(entry: JsonObject): number | undefined {
  const meta = isRecord(entry['meta']) ? entry['meta'] : {}
  const sizes = [
    entry['context_length'],
    entry['context_window'],
    entry['max_model_len'],
    entry['inputTokenLimit'],
    entry['max_input_tokens'],
    entry['max_context_length'],
    meta['n_ctx'],
    meta['n_ctx_train'],
  ]
  return sizes.find((size): size is number => typeof size === 'number' && Number.isSafeInteger(size) && size > 0)
}

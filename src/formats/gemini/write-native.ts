import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import type { Ask } from '../ask.ts'
import { editAsk } from '../edit-ask.ts'
import { isObject, objectOf, parseJsonBytes } from '../exact-json.ts'
import type { PassThroughTarget } from '../format.ts'
import { movedSpans } from '../reasoning-spans.ts'
import { spliceRequest } from '../splice-request.ts'
import { geminiModel, resourceName } from './models.ts'
import type { GeminiRequest } from './request.ts'
import { snakeCase } from './spelling.ts'
import { foreignSignature } from './write-contents.ts'

/**
 * Returns the caller's bytes with the changes of a provider, and without signatures that Google cannot read. Overrides
 * replace whole fields, in either spelling; those of `generationConfig` are replaced one by one, also in either. So do
 * defaults fields that the caller does not send.
 */
export function writeNative(
  given: GeminiRequest,
  model: string,
  { overrides, defaults = {}, profile: { rename, drop } }: PassThroughTarget,
): readonly Uint8Array[] {
  const request = given.reasoning.some(({ isForeign }) => isForeign) ? withoutForeign(given, model) : given
  const names = new Set(request.members.map(({ name }) => name))
  const spelling = (name: string): string => (names.has(name) || !names.has(snakeCase(name)) ? name : snakeCase(name))
  const spelled = Object.entries(configured(overrides, defaults)).map(([name, value]): readonly [string, unknown] => {
    const given = spelling(name)
    return [given, name === 'generationConfig' ? merged(request, given, value, defaults[name]) : value]
  })
  const lacking = Object.entries(defaults).map(([name, value]) => [spelling(name), value] as const)
  const edits = request.modelNames.map(({ start, end }) => ({
    start,
    end,
    replacement: encode(JSON.stringify(resourceName(model))),
  }))
  const inner = request.members.find(({ valueStart, end }) =>
    edits.some(({ start }) => start > valueStart && start < end),
  )
  return spliceRequest(
    request,
    {
      model: resourceName(model),
      overrides: Object.fromEntries(spelled),
      defaults: Object.fromEntries(lacking),
      rename,
      drop,
    },
    inner && { member: inner.name, edits },
  )
}

/** Without signatures that Google did not make. Models that require signatures get its placeholder in calls. */
function withoutForeign(request: GeminiRequest, model: string): GeminiRequest {
  const { signsCalls } = geminiModel(model)
  const edits = request.reasoning
    .filter(({ isForeign }) => isForeign)
    .map(({ start, end, isOfCall }) => ({
      start,
      end,
      replacement: encode(isOfCall && signsCalls ? `"${foreignSignature}"` : 'null'),
    }))
  const { changed, moved } = editAsk(request, edits)
  return { ...request, ...changed, modelNames: movedSpans(request.modelNames, moved), reasoning: [] }
}

/** The overrides, with a `generationConfig` also where there are only defaults of its fields. */
function configured(overrides: JsonObject, { generationConfig }: JsonObject): JsonObject {
  return isObject(generationConfig) ? { generationConfig: {}, ...overrides } : overrides
}

function merged({ body, members }: Ask, name: string, overrides: unknown, defaults: unknown): unknown {
  const own = members.findLast((member) => member.name === name)
  if (!isObject(overrides)) return overrides
  const given = own === undefined ? {} : objectOf(parseJsonBytes(body.subarray(own.valueStart, own.end)))
  return without(objectOf(defaults), without(given, overrides))

  /** The members of both, the later ones in either spelling. */
  function without(earlier: JsonObject, later: JsonObject): JsonObject {
    const names = new Set(Object.keys(later).map(snakeCase))
    return { ...Object.fromEntries(Object.entries(earlier).filter(([key]) => !names.has(snakeCase(key)))), ...later }
  }
}

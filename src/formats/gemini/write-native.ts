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
 * replace whole fields, in either spelling; those of `generationConfig` are replaced one by one, also in either.
 */
export function writeNative(
  given: GeminiRequest,
  model: string,
  { overrides, profile: { rename, drop } }: PassThroughTarget,
): readonly Uint8Array[] {
  const request = given.reasoning.some(({ isForeign }) => isForeign) ? withoutForeign(given, model) : given
  const names = new Set(request.members.map(({ name }) => name))
  const spelled = Object.entries(overrides).map(([name, value]): readonly [string, unknown] => {
    const given = names.has(name) || !names.has(snakeCase(name)) ? name : snakeCase(name)
    return [given, name === 'generationConfig' ? merged(request, given, value) : value]
  })
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
    { model: resourceName(model), overrides: Object.fromEntries(spelled), rename, drop },
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

function merged({ body, members }: Ask, name: string, overrides: unknown): unknown {
  const own = members.findLast((member) => member.name === name)
  if (own === undefined || !isObject(overrides)) return overrides
  const forced = new Set(Object.keys(overrides).map(snakeCase))
  const given = Object.entries(objectOf(parseJsonBytes(body.subarray(own.valueStart, own.end))))
  return { ...Object.fromEntries(given.filter(([key]) => !forced.has(snakeCase(key)))), ...overrides }
}

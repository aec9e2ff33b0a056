import type { JsonObject } from '../../base/json-value.ts'
import { hasMoreValues } from '../../bytes/value-count.ts'
import { encodeJson, objectOf, oneOrMore, parseJsonBytes } from '../exact-json.ts'
import { geminiModel } from './models.ts'
import type { GeminiRequest } from './request.ts'
import { memberOf } from './spelling.ts'
import { foreignSignature } from './write-contents.ts'

/** Parsing blocks the event loop: this many values for some 0.1 s. */
const valuesMax = 100_000

/**
 * The body of a request without thoughts and signatures of earlier answers, for a provider that refuses them. The first
 * of parallel calls gets Google's placeholder, unless the model is known to need none.
 *
 * @returns undefined if there is nothing to change, and for a body of more than 100,000 values
 */
export function geminiWithoutReasoning({ body, model }: GeminiRequest): Uint8Array | undefined {
  if (hasMoreValues(body, valuesMax)) return undefined
  const { signsCalls } = geminiModel(model)
  const placeholder = signsCalls || !model.toLowerCase().includes('gemini') ? foreignSignature : undefined
  const request = objectOf(parseJsonBytes(body))
  const contents = oneOrMore(request['contents']).map((content) => {
    const kept = oneOrMore(content['parts']).filter(({ thought }) => thought !== true)
    const firstCall = kept.find(isCall)
    const parts = kept.map((part) => signed(part, part === firstCall ? placeholder : undefined))
    return content['role'] === 'model' ? { ...content, parts: parts.length === 0 ? filler : parts } : content
  })
  const written = encodeJson({ ...request, contents })
  return Buffer.from(written).equals(encodeJson(request)) ? undefined : written
}

function isCall(part: JsonObject): boolean {
  return memberOf(part, 'functionCall') !== undefined
}

function signed(part: JsonObject, signature: string | undefined): JsonObject {
  const { thoughtSignature: _own, thought_signature: _other, ...others } = part
  return signature === undefined ? others : { ...others, thoughtSignature: signature }
}

/** Google refuses a content without parts. */
const filler = [{ text: '(no content)' }]

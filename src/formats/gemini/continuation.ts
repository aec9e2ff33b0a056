import type { JsonObject } from '../../base/json-value.ts'
import { parseChecked } from '../chat/read-event.ts'
import type { Delivered } from '../delivered.ts'
import { encodeJson, objectOf, objectsOf, textOf } from '../exact-json.ts'
import type { Continuation } from '../format.ts'

/** Starts the rest of a stream. Each response has the id and the model of the first one. */
export function geminiContinuation({ first }: Delivered): Continuation {
  const { responseId, modelVersion } = first === undefined ? {} : parseChecked(first.data)
  const head = {
    ...(responseId === undefined ? {} : { responseId }),
    ...(modelVersion === undefined ? {} : { modelVersion }),
  }
  return {
    write(part, text = part.text) {
      if (part.data.length === 0) return [part]
      const response = parseChecked(part.data)
      const written = text === part.text ? response : withText(response, text)
      return [{ ...part, text, data: encodeJson({ ...written, ...head }), framed: undefined }]
    },
  }
}

/** A response whose first candidate has this text. */
function withText(response: JsonObject, text: string): JsonObject {
  const [first = {}, ...others] = objectsOf(response['candidates'])
  const content = objectOf(first['content'])
  const beside = objectsOf(content['parts']).filter((part) => textOf(part['text']) === undefined)
  const parts = text === '' && beside.length > 0 ? beside : [{ text }, ...beside]
  return { ...response, candidates: [{ ...first, content: { ...content, parts } }, ...others] }
}

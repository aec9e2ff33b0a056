import type { JsonObject } from '../../base/json-value.ts'
import type { Opaque } from '../conversation.ts'
import { objectOf, textOf } from '../exact-json.ts'

/** Reads the signature of a function call, at its place in Google's own chat-completions API (docs/protocols.md). */
export function readCallSignature({ extra_content }: JsonObject): Opaque | undefined {
  const data = textOf(objectOf(objectOf(extra_content)['google'])['thought_signature'])
  return data === undefined ? undefined : { maker: 'google', data }
}

/** The members of a function call for its signature; none for the signature of another maker. */
export function writeCallSignature(opaque: Opaque | undefined): JsonObject {
  if (opaque?.maker !== 'google') return {}
  return { extra_content: { google: { thought_signature: opaque.data } } }
}

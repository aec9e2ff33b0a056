import type { Sealed } from '../conversation.ts'
import { listOf, parseJson, textOf } from '../exact-json.ts'
import { isSealed } from '../opaque-seal.ts'

/**
 * Writes reasoning whose data was wrapped by this service as the signature of a part, which clients send back
 * unchanged. It is base64, as libraries expect. It has the text too, since most clients leave thoughts out.
 */
export function sealThoughts(thoughts: readonly Sealed[]): string {
  return Buffer.from(JSON.stringify(thoughts.map(({ text, opaque }) => [opaque.data, text ?? null]))).toString('base64')
}

/** The beginning of these signatures: the base64 of `[["svc`. */
export const sealedBeginning = 'W1sic3Zj'

/** Reads it back. Undefined for a signature of Google's own. */
export function openThoughts(signature: string): readonly Sealed[] | undefined {
  if (!signature.startsWith(sealedBeginning)) return undefined
  try {
    return listOf(parseJson(Buffer.from(signature, 'base64').toString('utf8'))).flatMap(readThought)
  } catch {
    // The caller changed it.
    return []
  }
}

function readThought(fields: unknown): readonly Sealed[] {
  const [given, text] = listOf(fields)
  const data = textOf(given)
  return data !== undefined && isSealed(data) ? [{ text: textOf(text), opaque: { maker: 'sealed', data } }] : []
}

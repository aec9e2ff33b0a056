import type { Opaque, Sealed } from '../conversation.ts'
import { listOf, parseJson, textOf } from '../exact-json.ts'

const mark = 'svc1.'

/**
 * Writes the data that only the maker of an answer can read as an `encrypted_content`. The client sends it back
 * unchanged. It is not a secret and not signed: a maker refuses data that is not its own.
 */
export function sealReasoning({ text, opaque }: Sealed): string {
  const fields = [opaque.maker, opaque.data, ...(text === undefined ? ['hidden'] : [])]
  return mark + Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** Reads it back. Undefined for the data of another service. @param text of the summary, which stands beside it */
export function openReasoning(encrypted: string, text: string): Sealed | undefined {
  if (!encrypted.startsWith(mark)) return undefined
  const [maker, data, hidden] = fieldsOf(encrypted.slice(mark.length))
  const given = textOf(data)
  if (!isMaker(maker) || given === undefined) return undefined
  return { text: hidden === undefined ? text : undefined, opaque: { maker, data: given } }
}

function fieldsOf(encoded: string): readonly unknown[] {
  try {
    return listOf(parseJson(Buffer.from(encoded, 'base64url').toString('utf8')))
  } catch {
    // The caller changed it.
    return []
  }
}

function isMaker(value: unknown): value is Opaque['maker'] {
  return value === 'anthropic' || value === 'google'
}

import { isRecord } from './json-value.ts'
import type { Edit } from './splice.ts'
import { encode } from './text.ts'

/** Puts members before the closing brace at `end`. */
export function insertMembers(edits: Edit[], end: number, members: readonly string[], hasMembers: boolean): void {
  if (members.length === 0) return
  edits.push({ start: end, end, replacement: encode((hasMembers ? ',' : '') + members.join(',')) })
}

/** Content in parts (Mistral) as text and as reasoning. */
export function flattenParts(parts: readonly unknown[]): { text: string; reasoning: string } {
  let text = ''
  let reasoning = ''
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else if (isRecord(part)) {
      if (typeof part['text'] === 'string') text += part['text']
      const { thinking } = part
      if (typeof thinking === 'string') reasoning += thinking
      else if (Array.isArray(thinking)) reasoning += flattenParts(thinking).text
    }
  }
  return { text, reasoning }
}

import type { JsonObject } from '../../base/json-value.ts'
import type { ReasoningPart, Sealed } from '../conversation.ts'
import { listOf, objectsOf, omit, parseJson, textOf } from '../exact-json.ts'

/** Names of members with reasoning, beside `reasoning_content`: of Groq, OpenRouter, Copilot and others. */
export const otherReasoningNames = ['reasoning', 'thinking', 'reasoning_text', 'thinking_content', 'thought'] as const

/**
 * OpenRouter's `reasoning_details`: the reasoning of the maker behind it, with its signatures and hidden data, which it
 * wants back in their order (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens). MiniMax has the texts
 * alone there.
 */
export class ReasoningDetails {
  #entries: JsonObject[] = []
  #text = ''

  /**
   * Adds a list: of a whole answer, or pieces of one. Pieces of a text have the same type and index.
   *
   * @param text the reasoning beside it
   */
  add(list: readonly JsonObject[], text: string): void {
    this.#text += text
    const known = this.#entries.at(-1)
    for (const [position, entry] of list.entries()) {
      const name = textNames[textOf(entry['type']) ?? '']
      const isPiece = position === 0 && known?.['type'] === entry['type'] && known?.['index'] === entry['index']
      if (known === undefined || name === undefined || !isPiece) this.#entries.push(entry)
      else this.#entries[this.#entries.length - 1] = continued(known, entry, name)
    }
  }

  /** Takes the list at the end of a block. Undefined: no entry has what only its maker can read. */
  take(): Sealed | undefined {
    const text = this.#text
    this.#text = ''
    if (!this.#entries.some(isSecret)) return undefined
    // The text is not said twice.
    const entries = this.#entries.map((entry) => (entry['text'] === text ? omit(entry, ['text']) : entry))
    this.#entries = []
    return { text: text === '' ? undefined : text, opaque: { maker: 'openrouter', data: JSON.stringify(entries) } }
  }
}

const textNames: Readonly<Record<string, 'text' | 'summary'>> = {
  'reasoning.text': 'text',
  'reasoning.summary': 'summary',
}

function continued(known: JsonObject, entry: JsonObject, name: 'text' | 'summary'): JsonObject {
  return { ...known, ...entry, [name]: (textOf(known[name]) ?? '') + (textOf(entry[name]) ?? '') }
}

function isSecret({ signature, data }: JsonObject): boolean {
  return Boolean(textOf(signature)) || Boolean(textOf(data))
}

/** The texts of the entries. */
export function textOfDetails(list: readonly JsonObject[]): string {
  return list.map((entry) => textOf(entry[textNames[textOf(entry['type']) ?? ''] ?? '']) ?? '').join('')
}

/** The entries of `reasoning_details` that OpenRouter gets back; other reasoning is left out. */
export function writeReasoningDetails(parts: readonly ReasoningPart[]): readonly JsonObject[] {
  return parts.flatMap(({ text, opaque }) => {
    if (opaque?.maker !== 'openrouter') return []
    const entries = objectsOf(listOf(parseJson(opaque.data)))
    return entries.map((entry) =>
      entry['type'] === 'reasoning.text' && !('text' in entry) && text !== undefined ? { ...entry, text } : entry,
    )
  })
}

import { isAt } from '../bytes/json-cursor.ts'
import type { Edit } from '../bytes/splice.ts'
import { encode } from '../bytes/text.ts'
import type { Ask } from './ask.ts'
import type { KeptObject, Span } from './request-shape.ts'

/** A piece of reasoning of an earlier answer: an element of a list in a request. */
export interface ReasoningSpan extends Span {
  /** It is of a provider of another format, so no provider of the caller's own format accepts it. */
  readonly isForeign: boolean
}

/** Whether the string at these offsets begins with a text of ASCII characters. False without a string. */
export function beginsWith(body: Uint8Array, value: Span | undefined, text: string): boolean {
  return value !== undefined && isAt(body, value.start, encode(`"${text}`)) && value.start + text.length < value.end - 1
}

/** Whether a value is absent, null or an empty string. */
export function isBlank(body: Uint8Array, value: Span | undefined): boolean {
  return value === undefined || body[value.start] === letterN || value.end - value.start === 2
}

/** The reasoning among the objects that a check has kept. */
export function reasoningOf(
  objects: readonly KeptObject[],
  isForeign: (object: KeptObject) => boolean,
): readonly ReasoningSpan[] {
  if (objects.length === 0) return noSpans
  return objects.map((object) => ({ start: object.start, end: object.end, isForeign: isForeign(object) }))
}

const noSpans: readonly ReasoningSpan[] = []

/** Name of reasoning in `x-svc-dropped`, in every format of callers. */
export const droppedReasoning = 'reasoning'

/** What an {@link Ask} says of its reasoning. */
export function reasoningFact(spans: readonly ReasoningSpan[]): Pick<Ask, 'hasReasoning'> {
  if (spans.length === 0) return { hasReasoning: undefined }
  return { hasReasoning: spans.some(({ isForeign }) => isForeign) ? 'foreign' : 'own' }
}

/** The spans after an edit. @param moved see {@link editAsk} */
export function movedSpans<Moved extends Span>(spans: readonly Moved[], moved: (offset: number) => number): Moved[] {
  return spans.map((span) => ({ ...span, start: moved(span.start), end: moved(span.end) }))
}

/**
 * Removes elements from lists, each with one comma.
 *
 * @param elements sorted
 * @param filler takes the place of the elements of a list that would be empty
 */
export function removeElements(body: Uint8Array, elements: readonly Span[], filler: Uint8Array): readonly Edit[] {
  const edits: Edit[] = []
  for (let index = 0; index < elements.length; index++) {
    const { start, end: first } = elements[index] ?? nothing
    let end = first
    // Neighbours are removed in one.
    for (let next = elements[index + 1]; next !== undefined && next.start === afterComma(body, end);) {
      end = next.end
      next = elements[++index + 1]
    }
    const after = afterComma(body, end)
    const before = spaceBefore(body, start) - 1
    if (after !== undefined) edits.push({ start, end: after, replacement: noBytes })
    else if (body[before] === comma) edits.push({ start: before, end, replacement: noBytes })
    else edits.push({ start, end, replacement: filler })
  }
  return edits
}

/** Offset of the element behind the comma at `offset`. Undefined without a comma. */
function afterComma(body: Uint8Array, offset: number): number | undefined {
  const found = spaceAfter(body, offset)
  return body[found] === comma ? spaceAfter(body, found + 1) : undefined
}

function spaceAfter(body: Uint8Array, offset: number): number {
  let at = offset
  while (isSpace(body[at])) at++
  return at
}

function spaceBefore(body: Uint8Array, offset: number): number {
  let at = offset
  while (isSpace(body[at - 1])) at--
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

const comma = 0x2c
const letterN = 0x6e
const noBytes = new Uint8Array()
const nothing: Span = { start: 0, end: 0 }

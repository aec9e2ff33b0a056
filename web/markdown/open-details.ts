import { skipCharacters, skipIndent } from './cursor.ts'
import {
  addBlock,
  closeInnermost,
  closeUnmatched,
  innermost,
  openFrame,
  replaceInnermost,
  type LineState,
} from './frames.ts'
import { emptySequence, isEmpty } from './sequence.ts'

const opening = /^<details( open)?>\s*(?:<summary>(.*?)<\/summary>\s*)?/i
const closing = '</details>'

/**
 * Opens an element `<details>`, with its summary if it follows on the line. Content that ends on the same line becomes
 * a paragraph.
 *
 * @returns whether there is one
 */
export function beginDetails(state: LineState, text: string): boolean {
  const match = opening.exec(text)
  if (match === null) return false
  const [start, isOpen, summary = ''] = match,
    rest = text.slice(start.length).trimEnd()
  openFrame(state, {
    kind: 'details',
    summary,
    isOpen: isOpen !== undefined,
    isComplete: false,
    children: emptySequence,
  })
  const isOneLine = rest.toLowerCase().endsWith(closing) && !opening.test(rest)
  if (isOneLine && rest.length > closing.length)
    addBlock(state, { kind: 'paragraph', text: rest.slice(0, -closing.length).trim() })
  if (isOneLine) closeDetails(state)
  const skipped = isOneLine ? text.trimEnd().length : start.trimEnd().length
  state.cursor = skipIndent(skipCharacters(skipIndent(state.cursor), skipped))
  return true
}

/** Reads a line with the summary or the end of the innermost element `<details>`. Returns whether it is one. */
export function readDetailsLine(state: LineState, text: string): boolean {
  if (text.trimEnd().toLowerCase() === closing) {
    const index = state.frames.slice(0, state.matched).findLastIndex(({ kind }) => kind === 'details')
    if (index === -1) return false
    state.matched = index + 1
    closeUnmatched(state)
    closeDetails(state)
    return true
  }
  const frame = innermost(state),
    summary = /^<summary>(.*)<\/summary>\s*$/i.exec(text)?.[1]
  if (summary === undefined || state.matched < state.frames.length) return false
  if (frame.kind !== 'details' || frame.summary !== '' || !isEmpty(frame.children)) return false
  replaceInnermost(state, { ...frame, summary })
  return true
}

function closeDetails(state: LineState): void {
  const frame = innermost(state)
  if (frame.kind !== 'details') return
  replaceInnermost(state, { ...frame, isComplete: true })
  closeInnermost(state, false)
}

import type { Alignment, Row } from './block.ts'

// What one line says, without its indentation. Each looks at a line once, however long it is (CommonMark 0.31, section 4; GFM, section 4.10).

/** An opened fence of code. */
export interface Fence {
  readonly character: string
  readonly length: number
  /** What stands after it. */
  readonly info: string
}

/** The mark before an item of a list. Items belong to one list as long as their `style` is the same. */
export interface Marker {
  readonly style: string
  readonly length: number
  /** The number of an ordered item. */
  readonly number: number | undefined
}

/** A heading such as `## Title ##`, or undefined. */
export function readHeading(line: string): { readonly depth: number; readonly text: string } | undefined {
  const depth = runLength(line, 0, '#')
  if (depth === 0 || depth > 6 || !isSpaceOrEnd(line, depth)) return undefined
  const text = line.slice(depth).trim()
  let end = text.length
  while (text[end - 1] === '#') end -= 1
  if (end === text.length) return { depth, text }
  return { depth, text: end === 0 || isSpaceOrEnd(text, end - 1) ? text.slice(0, end).trim() : text }
}

/** A fence that opens a block of code, or undefined. */
export function readFence(line: string): Fence | undefined {
  const character = line[0]
  if (character !== '`' && character !== '~') return undefined
  const length = runLength(line, 0, character)
  const info = line.slice(length).trim()
  if (length < 3 || (character === '`' && info.includes('`'))) return undefined
  return { character, length, info }
}

/** Whether the line closes the fence. */
export function closesFence(line: string, fence: Fence): boolean {
  const length = runLength(line, 0, fence.character)
  return length >= fence.length && line.slice(length).trim() === ''
}

/** Whether the line is a rule such as `---` or `* * *`. */
export function isRule(line: string): boolean {
  const mark = line[0]
  if (mark !== '-' && mark !== '_' && mark !== '*') return false
  let count = 0
  for (const character of line) {
    if (character === mark) count += 1
    else if (character !== ' ' && character !== '\t') return false
  }
  return count >= 3
}

/** The depth of the heading that the line makes of the paragraph before it: `===` 1, `---` 2; or undefined. */
export function readUnderline(line: string): 1 | 2 | undefined {
  const mark = line[0]
  if (mark !== '=' && mark !== '-') return undefined
  if (line.slice(runLength(line, 0, mark)).trim() !== '') return undefined
  return mark === '=' ? 1 : 2
}

/** The mark of a list's item, or undefined. */
export function readMarker(line: string): Marker | undefined {
  const first = line[0] ?? ''
  if ('*+-'.includes(first) && first !== '')
    return isSpaceOrEnd(line, 1) ? { style: first, length: 1, number: undefined } : undefined
  const match = /^(\d{1,9})([.)])/.exec(line)
  if (match === null || !isSpaceOrEnd(line, match[0].length)) return undefined
  return { style: match[2] ?? '', length: match[0].length, number: Number(match[1]) }
}

/** Whether a task is done, if the item's text begins with `[ ]` or `[x]` and goes on after it. */
export function readTask(text: string): 'none' | 'open' | 'done' {
  const match = /^\[([ xX])\][ \t]+\S/.exec(text)
  if (match === null) return 'none'
  return match[1] === ' ' ? 'open' : 'done'
}

/** How the columns stand, if the line is the one under a table's header, or undefined. */
export function readAlignments(line: string): readonly Alignment[] | undefined {
  if (!/^[|:-]/.test(line) || !/[|:]/.test(line) || /[^|:\- \t]/.test(line)) return undefined
  const alignments: Alignment[] = []
  for (const cell of splitCells(line)) {
    const alignment = readAlignment(cell)
    if (alignment === undefined) return undefined
    alignments.push(alignment)
  }
  return alignments.length === 0 ? undefined : alignments
}

function readAlignment(cell: string): Alignment | undefined {
  if (!/^:?-+:?$/.test(cell)) return undefined
  if (cell.startsWith(':')) return cell.endsWith(':') ? 'center' : 'left'
  return cell.endsWith(':') ? 'right' : 'start'
}

/** The cells of a table's line; `\|` is a bar within one. */
export function splitCells(line: string): Row {
  const trimmed = line.trim(),
    cells: string[] = []
  let start = trimmed.startsWith('|') ? 1 : 0
  for (let offset = start; offset < trimmed.length; offset += 1) {
    if (trimmed[offset] === '\\') offset += 1
    else if (trimmed[offset] === '|') {
      cells.push(readCell(trimmed, start, offset))
      start = offset + 1
    }
  }
  if (start < trimmed.length) cells.push(readCell(trimmed, start, trimmed.length))
  return cells
}

function readCell(line: string, start: number, end: number): string {
  return line.slice(start, end).trim().replaceAll('\\|', '|')
}

/** A row of a table. What is more than it has columns is in the last one, so that nothing is lost. */
export function readRow(line: string, columns: number): Row {
  const cells = splitCells(line)
  return cells.length <= columns ? cells : [...cells.slice(0, columns - 1), cells.slice(columns - 1).join(' | ')]
}

/** How many times the character stands there. */
function runLength(line: string, offset: number, character: string): number {
  let end = offset
  while (line[end] === character) end += 1
  return end - offset
}

function isSpaceOrEnd(line: string, offset: number): boolean {
  return offset >= line.length || line[offset] === ' ' || line[offset] === '\t'
}

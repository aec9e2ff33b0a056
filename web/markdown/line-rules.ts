import type { Alert, Alignment, Row } from './block.ts'

// Parsers of a single line without its indentation, in linear time (CommonMark 0.31, section 4; GFM, section 4.10).

/** An opening code fence. */
export interface Fence {
  readonly character: string
  readonly length: number
  /** The text after the fence. */
  readonly info: string
}

/** A list marker. Consecutive items with the same `style` belong to one list. */
export interface Marker {
  readonly style: string
  readonly length: number
  /** The number of an ordered item. */
  readonly number: number | undefined
}

/** Parses a heading such as `## Title ##`. */
export function readHeading(line: string): { readonly depth: number; readonly text: string } | undefined {
  const depth = runLength(line, 0, '#')
  if (depth === 0 || depth > 6 || !isSpaceOrEnd(line, depth)) return undefined
  const text = line.slice(depth).trim()
  let end = text.length
  while (text[end - 1] === '#') end -= 1
  if (end === text.length) return { depth, text }
  return { depth, text: end === 0 || isSpaceOrEnd(text, end - 1) ? text.slice(0, end).trim() : text }
}

/** Parses an opening code fence. */
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

/** Returns the depth of the heading that this underline makes of the preceding paragraph: `===` 1, `---` 2. */
export function readUnderline(line: string): 1 | 2 | undefined {
  const mark = line[0]
  if (mark !== '=' && mark !== '-') return undefined
  if (line.slice(runLength(line, 0, mark)).trim() !== '') return undefined
  return mark === '=' ? 1 : 2
}

/** Parses a list marker. */
export function readMarker(line: string): Marker | undefined {
  const first = line[0] ?? ''
  if ('*+-'.includes(first) && first !== '')
    return isSpaceOrEnd(line, 1) ? { style: first, length: 1, number: undefined } : undefined
  const match = /^(\d{1,9})([.)])/.exec(line)
  if (match === null || !isSpaceOrEnd(line, match[0].length)) return undefined
  return { style: match[2] ?? '', length: match[0].length, number: Number(match[1]) }
}

/** Returns the state of a task: `[ ]` or `[x]` at the start of an item, followed by text. */
export function readTask(text: string): 'none' | 'open' | 'done' {
  const match = /^\[([ xX])\][ \t]+\S/.exec(text)
  if (match === null) return 'none'
  return match[1] === ' ' ? 'open' : 'done'
}

const alerts: ReadonlyMap<string, Alert> = new Map(
  (['note', 'tip', 'important', 'warning', 'caution'] as const).map((alert) => [`[!${alert}]`, alert]),
)

/** Returns the kind of the alert that this line of a quote begins. */
export function readAlert(line: string): Alert | undefined {
  return line.startsWith('[!') ? alerts.get(line.trimEnd().toLowerCase()) : undefined
}

/** Parses the delimiter row under the header of a table. */
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

/** Splits a table row into cells. `\|` is a bar within a cell. */
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

/** Parses a table row. Surplus cells are joined into the last column, so no text is lost. */
export function readRow(line: string, columns: number): Row {
  const cells = splitCells(line)
  return cells.length <= columns ? cells : [...cells.slice(0, columns - 1), cells.slice(columns - 1).join(' | ')]
}

/** Counts repetitions of the character from `offset`. */
function runLength(line: string, offset: number, character: string): number {
  let end = offset
  while (line[end] === character) end += 1
  return end - offset
}

function isSpaceOrEnd(line: string, offset: number): boolean {
  return offset >= line.length || line[offset] === ' ' || line[offset] === '\t'
}

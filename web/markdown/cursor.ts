/**
 * A place in a line. A tab reaches to the next column divisible by four, and part of it can be behind us (CommonMark
 * 0.31, section 2.2).
 */
export interface Cursor {
  readonly line: string
  readonly offset: number
  readonly column: number
  /** Columns of the tab before `offset` that are still ahead. */
  readonly tabRest: number
}

/** White space ahead, and what follows it. */
export interface Indent {
  /** In columns. */
  readonly width: number
  /** Where the first character that is neither space nor tab stands. */
  readonly offset: number
  readonly isBlank: boolean
}

/** The beginning of a line. */
export function startOf(line: string): Cursor {
  return { line, offset: 0, column: 0, tabRest: 0 }
}

/** The white space ahead. */
export function indentAt(cursor: Cursor): Indent {
  let offset = cursor.offset,
    column = cursor.column + cursor.tabRest
  for (; offset < cursor.line.length; offset += 1) {
    const character = cursor.line[offset]
    if (character === ' ') column += 1
    else if (character === '\t') column += 4 - (column % 4)
    else break
  }
  return { width: column - cursor.column, offset, isBlank: offset === cursor.line.length }
}

/** The cursor after white space of at most so many columns. */
export function skipColumns(cursor: Cursor, columns: number): Cursor {
  let { offset, column, tabRest } = cursor
  let left = columns
  while (left > 0) {
    if (tabRest === 0) {
      const character = cursor.line[offset]
      if (character !== ' ' && character !== '\t') break
      tabRest = character === ' ' ? 1 : 4 - (column % 4)
      offset += 1
    }
    const taken = Math.min(left, tabRest)
    column += taken
    tabRest -= taken
    left -= taken
  }
  return { line: cursor.line, offset, column, tabRest }
}

/** The cursor after all white space ahead. */
export function skipIndent(cursor: Cursor): Cursor {
  return skipColumns(cursor, Number.POSITIVE_INFINITY)
}

/** The cursor so many characters on; none of them is white space. */
export function skipCharacters(cursor: Cursor, count: number): Cursor {
  return { line: cursor.line, offset: cursor.offset + count, column: cursor.column + count, tabRest: 0 }
}

/** What is ahead; a tab that is partly behind us is spaces. */
export function restOf(cursor: Cursor): string {
  return ' '.repeat(cursor.tabRest) + cursor.line.slice(cursor.offset)
}

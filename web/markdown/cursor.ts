/**
 * A position in a line. A tab extends to the next multiple of four columns, and the position may be within it
 * (CommonMark 0.31, section 2.2).
 */
export interface Cursor {
  readonly line: string
  readonly offset: number
  readonly column: number
  /** Remaining columns of the tab before `offset`. */
  readonly tabRest: number
}

/** White space at the cursor, and the text after it. */
export interface Indent {
  /** In columns. */
  readonly width: number
  /** Offset of the first character that is neither a space nor a tab. */
  readonly offset: number
  readonly isBlank: boolean
}

/** Returns a cursor at the start of a line. */
export function startOf(line: string): Cursor {
  return { line, offset: 0, column: 0, tabRest: 0 }
}

/** Measures the white space at the cursor. */
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

/** Skips white space of at most `columns` columns. */
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

/** Skips all white space at the cursor. */
export function skipIndent(cursor: Cursor): Cursor {
  return skipColumns(cursor, Number.POSITIVE_INFINITY)
}

/** Skips `count` characters, which must not be white space. */
export function skipCharacters(cursor: Cursor, count: number): Cursor {
  return { line: cursor.line, offset: cursor.offset + count, column: cursor.column + count, tabRest: 0 }
}

/** Returns the rest of the line. The rest of a partly skipped tab becomes spaces. */
export function restOf(cursor: Cursor): string {
  return ' '.repeat(cursor.tabRest) + cursor.line.slice(cursor.offset)
}

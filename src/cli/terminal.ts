import { harmless, type Paint, type Style } from '../base/shown-text.ts'

/** Whether to use colour: on a terminal, unless `NO_COLOR` is set (no-color.org) or the terminal is `dumb`. */
export function wantsColour(isTerminal: boolean, environment: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb'
}

/** A column of a table. */
export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** The column shrinks when the table is wider than the terminal. At most one column may. */
  readonly shrinks?: boolean
}

/** A cell: plain text, or text with a style. */
export type Cell = string | { readonly text: string; readonly style: Style }

const gap = '  '
const shrunkMin = 8

/**
 * Formats a table with aligned columns. Each line ends with a line break. Control characters in cells are escaped.
 *
 * @param width most characters of a line; `Infinity` for no limit
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
  width: number,
): string {
  const texts = rows.map((row) => columns.map((_, index) => harmless(textOf(row[index] ?? ''))))
  const widths = columns.map((column, index) =>
    Math.max(Bun.stringWidth(column.title), ...texts.map((row) => Bun.stringWidth(row[index] ?? ''))),
  )
  const excess = widths.reduce((sum, each) => sum + each, gap.length * (columns.length - 1)) - width
  const shrinking = columns.findIndex((column) => column.shrinks === true)
  if (excess > 0 && shrinking !== -1) widths[shrinking] = Math.max(shrunkMin, (widths[shrinking] ?? 0) - excess)

  const line = (cells: readonly string[], style: (text: string, index: number) => string): string =>
    cells
      .map((cell, index) => {
        const fitted = truncate(cell, widths[index] ?? 0)
        const padding = ' '.repeat(Math.max(0, (widths[index] ?? 0) - Bun.stringWidth(fitted)))
        if (columns[index]?.align === 'right') return padding + style(fitted, index)
        return style(fitted, index) + (index === columns.length - 1 ? '' : padding)
      })
      .join(gap)
      .trimEnd()

  const heading = line(
    columns.map((column) => column.title),
    (text) => paint('dim', text),
  )
  const body = texts.map((cells, row) =>
    line(cells, (text, index) => {
      const cell = rows[row]?.[index]
      return cell === undefined || typeof cell === 'string' ? text : paint(cell.style, text)
    }),
  )
  return [heading, ...body].map((each) => `${each}\n`).join('')
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** Cuts a text to a width, with `…` at its end. @param width characters on a terminal */
export function truncate(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let shortened = ''
  let used = 1
  for (const letter of text) {
    used += Bun.stringWidth(letter)
    if (used > width) break
    shortened += letter
  }
  return `${shortened}…`
}

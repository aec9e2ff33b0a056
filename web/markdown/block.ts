import type { Sequence } from './sequence.ts'

/** Alignment of a table column. `start`: not specified. */
export type Alignment = 'start' | 'left' | 'center' | 'right'

/** Cells of a row, as Markdown. */
export type Row = readonly string[]

/** One item of a list. */
export interface Item {
  readonly kind: 'item'
  readonly children: Sequence<Block>
  /** Of a task list: whether the task is done. */
  readonly task: 'none' | 'open' | 'done'
  /**
   * Whether a blank line precedes the item. Spacing is stored per item, so visible items do not move as the list grows.
   */
  readonly isSpaced: boolean
}

/** Kind of an alert (https://docs.github.com/get-started/writing-on-github, "Alerts"). */
export type Alert = 'note' | 'tip' | 'important' | 'warning' | 'caution'

/** A block of a document. Texts of paragraphs, headings and cells are still Markdown; see `inline.ts`. */
export type Block =
  | { readonly kind: 'paragraph'; readonly text: string }
  /**
   * `depth`: as written, 1 to 6. `level`: number of headings it is nested in, including itself, so no level is skipped.
   */
  | { readonly kind: 'heading'; readonly depth: number; readonly level: number; readonly text: string }
  | { readonly kind: 'rule' }
  | { readonly kind: 'quote'; readonly alert: Alert | undefined; readonly children: Sequence<Block> }
  /** `summary`: as Markdown. `isOpen`: its content is shown at first. */
  | {
      readonly kind: 'details'
      readonly summary: string
      readonly isOpen: boolean
      readonly children: Sequence<Block>
    }
  /** A footnote, where it is defined. */
  | { readonly kind: 'footnote'; readonly label: string; readonly children: Sequence<Block> }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly start: number; readonly items: Sequence<Item> }
  | {
      readonly kind: 'table'
      readonly header: Row
      readonly alignments: readonly Alignment[]
      readonly rows: Sequence<Row>
    }
  /** `isOpen`: more text may follow. `info`: the text after the fence; its first word is the language. */
  | { readonly kind: 'code'; readonly info: string; readonly chunks: readonly string[]; readonly isOpen: boolean }
  /** `source`: undefined while more text may follow. `written`: with its marks. */
  | { readonly kind: 'formula'; readonly source: string | undefined; readonly written: string }
  /** Raw HTML, shown as text. */
  | { readonly kind: 'html'; readonly chunks: readonly string[] }

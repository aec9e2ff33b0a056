import type { Sequence } from './sequence.ts'

/** How a column of a table stands; `start` where nothing is said. */
export type Alignment = 'start' | 'left' | 'center' | 'right'

/** The cells of a row, as written. */
export type Row = readonly string[]

/** One item of a list. */
export interface Item {
  readonly kind: 'item'
  readonly children: Sequence<Block>
  /** Of a task list: whether the task is done. */
  readonly task: 'none' | 'open' | 'done'
  /**
   * Whether a blank line stands before it. The spacing of a list is told by item, so that what is shown already never
   * moves when more arrives.
   */
  readonly isSpaced: boolean
}

/**
 * A part of a text, in the order of the text. Texts of paragraphs, headings and cells are Markdown still: see
 * `inline.ts`.
 */
export type Block =
  | { readonly kind: 'paragraph'; readonly text: string }
  /**
   * `depth`: as written, from 1 to 6. `level`: how many headings it is within, itself included, so that no level is
   * left out.
   */
  | { readonly kind: 'heading'; readonly depth: number; readonly level: number; readonly text: string }
  | { readonly kind: 'rule' }
  | { readonly kind: 'quote'; readonly children: Sequence<Block> }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly start: number; readonly items: Sequence<Item> }
  | {
      readonly kind: 'table'
      readonly header: Row
      readonly alignments: readonly Alignment[]
      readonly rows: Sequence<Row>
    }
  /** `isOpen`: more may come. `info`: what stands after the fence; its first word is a language. */
  | { readonly kind: 'code'; readonly info: string; readonly chunks: readonly string[]; readonly isOpen: boolean }
  /** Raw HTML, which is shown as it is written. */
  | { readonly kind: 'html'; readonly chunks: readonly string[] }

import type { Alert, Alignment, Block, Item, Row } from './block.ts'
import { allChunks, type Chunks } from './chunks.ts'
import type { Cursor } from './cursor.ts'
import { takeDefinitions, type FoundDefinition } from './definitions.ts'
import type { HtmlEnd } from './html-rules.ts'
import type { Fence } from './line-rules.ts'
import { append, isEmpty, type Sequence } from './sequence.ts'

/** An open block that contains blocks. */
export type ContainerFrame =
  | { readonly kind: 'document'; readonly children: Sequence<Block> }
  | { readonly kind: 'quote'; readonly alert: Alert | undefined; readonly children: Sequence<Block> }
  /** `isComplete`: its closing tag was read. */
  | {
      readonly kind: 'details'
      readonly summary: string
      readonly isOpen: boolean
      readonly isComplete: boolean
      readonly children: Sequence<Block>
    }
  /** `width`: columns by which its further lines are indented. */
  | {
      readonly kind: 'footnote'
      readonly width: number
      readonly label: string
      readonly children: Sequence<Block>
    }
  | {
      readonly kind: 'list'
      readonly style: string
      readonly start: number | undefined
      readonly items: Sequence<Item>
    }
  /** `width`: columns by which its content is indented. */
  | {
      readonly kind: 'item'
      readonly width: number
      readonly isSpaced: boolean
      readonly task: Item['task']
      readonly children: Sequence<Block>
    }

/** An open block that contains lines. */
export type LeafFrame =
  /** `lastLine`: may become the header of a table. */
  | { readonly kind: 'paragraph'; readonly earlier: string; readonly lastLine: string }
  | { readonly kind: 'fence'; readonly fence: Fence; readonly indent: number; readonly lines: Chunks }
  /** `blank`: trailing blank lines, which belong to the block if another line follows. */
  | { readonly kind: 'indented'; readonly lines: Chunks; readonly blank: string }
  | { readonly kind: 'html'; readonly end: HtmlEnd; readonly lines: Chunks }
  | {
      readonly kind: 'table'
      readonly header: Row
      readonly alignments: readonly Alignment[]
      readonly rows: Sequence<Row>
    }

/** An open block. */
export type Frame = ContainerFrame | LeafFrame

/** The frame type of one kind. */
export type FrameOf<Kind extends Frame['kind']> = Extract<Frame, { kind: Kind }>

/** Immutable parser state after complete lines. Later states share their complete blocks. */
export interface ParsedLines {
  /** Open blocks, each nested in the previous one. The first is the document. */
  readonly frames: readonly Frame[]
  readonly found: FoundDefinition | undefined
  readonly isAfterBlankLine: boolean
  /** Depths of the headings above the current position, each deeper than the previous one. */
  readonly outline: readonly number[]
  readonly formula: OpenFormula | undefined
}

/**
 * A formula that began on a line of its own, with `$$` or `\[`, and has not ended yet. Until then its lines are also
 * parsed as other blocks, which stay if it never ends.
 */
export interface OpenFormula {
  readonly closing: '$$' | '\\]'
  /** The text after the opening mark, with line ends. */
  readonly source: string
  /** The state before the formula, and the number of its frames that the first line continues. */
  readonly before: ParsedLines
  readonly matched: number
}

/** Mutable parser state while one line is read. */
export interface LineState {
  readonly frames: Frame[]
  /** Number of open blocks that the line continues. */
  matched: number
  cursor: Cursor
  found: FoundDefinition | undefined
  readonly isAfterBlankLine: boolean
  outline: readonly number[]
  formula: OpenFormula | undefined
}

/** Returns the innermost open frame. */
export function innermost(state: LineState): Frame {
  const frame = state.frames.at(-1)
  if (frame === undefined) throw new Error('No block is open')
  return frame
}

/** Replaces the innermost frame. */
export function replaceInnermost(state: LineState, frame: Frame): void {
  state.frames[state.frames.length - 1] = frame
}

/** Returns the paragraph that the line continues, if there is one. */
export function openParagraph(state: LineState): FrameOf<'paragraph'> | undefined {
  const frame = innermost(state)
  return state.matched === state.frames.length && frame.kind === 'paragraph' ? frame : undefined
}

/** Removes the innermost paragraph, since it became another block. */
export function dropParagraph(state: LineState): void {
  state.frames.pop()
  state.matched = state.frames.length
}

/** Returns the text of a paragraph. */
export function textOf(paragraph: FrameOf<'paragraph'>): string {
  return paragraph.earlier === '' ? paragraph.lastLine : `${paragraph.earlier}\n${paragraph.lastLine}`
}

/** Opens a block within the innermost matched frame. */
export function openFrame(state: LineState, frame: Frame): void {
  closeFramesBefore(state, frame.kind)
  state.frames.push(frame)
  state.matched = state.frames.length
}

/** Adds a complete block. */
export function addBlock(state: LineState, block: Block): void {
  closeFramesBefore(state, block.kind)
  addTo(state, block)
}

/** Closes the frames that the line does not continue. */
export function closeUnmatched(state: LineState): void {
  while (state.frames.length > state.matched) closeInnermost(state, false)
}

/** Closes the innermost frame. `isOpen`: a preview, since more text may follow. */
export function closeInnermost(state: LineState, isOpen: boolean): void {
  const frame = state.frames.pop()
  if (frame === undefined) return
  state.matched = Math.min(state.matched, state.frames.length)
  const block = frame.kind === 'paragraph' ? closeParagraph(state, frame, isOpen) : toBlock(frame, isOpen)
  if (block !== undefined) addTo(state, block)
}

/**
 * Closes the frames that cannot contain a block of this kind: unmatched ones, then a paragraph, or a list before
 * anything but an item.
 */
function closeFramesBefore(state: LineState, kind: Frame['kind'] | Block['kind']): void {
  closeUnmatched(state)
  const frame = innermost(state)
  const canContain = frame.kind === 'list' ? kind === 'item' : 'children' in frame
  if (!canContain) closeInnermost(state, false)
}

function addTo(state: LineState, block: Block | Item): void {
  const frame = innermost(state)
  if (block.kind === 'item') {
    if (frame.kind === 'list') replaceInnermost(state, { ...frame, items: append(frame.items, block) })
  } else if ('children' in frame) {
    replaceInnermost(state, { ...frame, children: append(frame.children, block) })
  }
}

function closeParagraph(state: LineState, paragraph: FrameOf<'paragraph'>, isOpen: boolean): Block | undefined {
  const text = textOf(paragraph)
  if (isOpen) return { kind: 'paragraph', text: text.trimEnd() }
  const { rest, found } = takeDefinitions(text, state.found)
  state.found = found
  return rest.trim() === '' ? undefined : { kind: 'paragraph', text: rest.trimEnd() }
}

function toBlock(frame: Exclude<Frame, { kind: 'paragraph' }>, isOpen: boolean): Block | Item | undefined {
  switch (frame.kind) {
    case 'document':
      return undefined
    case 'quote':
      return { kind: 'quote', alert: frame.alert, children: frame.children }
    case 'footnote':
      return { kind: 'footnote', label: frame.label, children: frame.children }
    case 'details': {
      const { summary, children, isComplete } = frame
      // One that never ends could hide the rest of the text.
      return { kind: 'details', summary, isOpen: frame.isOpen || !(isComplete || isOpen), children }
    }
    case 'list':
      return isEmpty(frame.items)
        ? undefined
        : { kind: 'list', isOrdered: frame.start !== undefined, start: frame.start ?? 1, items: frame.items }
    case 'item':
      return { kind: 'item', isSpaced: frame.isSpaced, task: frame.task, children: frame.children }
    case 'fence':
      return { kind: 'code', info: frame.fence.info, chunks: allChunks(frame.lines), isOpen }
    case 'indented':
      return { kind: 'code', info: '', chunks: allChunks(frame.lines), isOpen }
    case 'html':
      return { kind: 'html', chunks: allChunks(frame.lines) }
    case 'table':
      return { kind: 'table', header: frame.header, alignments: frame.alignments, rows: frame.rows }
  }
}

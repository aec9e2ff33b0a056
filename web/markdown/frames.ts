import type { Alignment, Block, Item, Row } from './block.ts'
import { allChunks, type Chunks } from './chunks.ts'
import type { Cursor } from './cursor.ts'
import { takeDefinitions, type FoundDefinition } from './definitions.ts'
import type { HtmlEnd } from './html-rules.ts'
import type { Fence } from './line-rules.ts'
import { append, isEmpty, type Sequence } from './sequence.ts'

/** An open block that holds blocks. */
export type Container =
  | { readonly kind: 'document' | 'quote'; readonly children: Sequence<Block> }
  | {
      readonly kind: 'list'
      readonly style: string
      readonly start: number | undefined
      readonly items: Sequence<Item>
    }
  /** `width`: the columns its content is indented by. */
  | {
      readonly kind: 'item'
      readonly width: number
      readonly isSpaced: boolean
      readonly task: Item['task']
      readonly children: Sequence<Block>
    }

/** An open block that holds lines. */
export type Leaf =
  /** `lastLine`: it may turn out to be the header of a table. */
  | { readonly kind: 'paragraph'; readonly earlier: string; readonly lastLine: string }
  | { readonly kind: 'fence'; readonly fence: Fence; readonly indent: number; readonly lines: Chunks }
  /** `blank`: blank lines, which are part of it when another line follows. */
  | { readonly kind: 'indented'; readonly lines: Chunks; readonly blank: string }
  | { readonly kind: 'html'; readonly end: HtmlEnd; readonly lines: Chunks }
  | {
      readonly kind: 'table'
      readonly header: Row
      readonly alignments: readonly Alignment[]
      readonly rows: Sequence<Row>
    }

/** A block that may go on. */
export type Frame = Container | Leaf

/** The frame of one kind. */
export type FrameOf<Kind extends Frame['kind']> = Extract<Frame, { kind: Kind }>

/** A reading while a line is added to it. */
export interface Work {
  /** What is open, each within the one before. The first is the document. */
  readonly frames: Frame[]
  /** How many of them the line goes on with. */
  matched: number
  cursor: Cursor
  found: FoundDefinition | undefined
  readonly isAfterBlankLine: boolean
  /** The depths of the headings that what comes is within, each deeper than the one before. */
  outline: readonly number[]
}

/** The innermost open frame. */
export function innermost(work: Work): Frame {
  const frame = work.frames.at(-1)
  if (frame === undefined) throw new Error('A document is always open.')
  return frame
}

/** Puts the frame in the place of the innermost one. */
export function replaceInnermost(work: Work, frame: Frame): void {
  work.frames[work.frames.length - 1] = frame
}

/** The paragraph that the line goes on with, if there is one. */
export function openParagraph(work: Work): FrameOf<'paragraph'> | undefined {
  const frame = innermost(work)
  return work.matched === work.frames.length && frame.kind === 'paragraph' ? frame : undefined
}

/** Takes a paragraph away that turned out to be something else. */
export function dropParagraph(work: Work): void {
  work.frames.pop()
  work.matched = work.frames.length
}

/** The text of a paragraph. */
export function textOf(paragraph: FrameOf<'paragraph'>): string {
  return paragraph.earlier === '' ? paragraph.lastLine : `${paragraph.earlier}\n${paragraph.lastLine}`
}

/** Opens a block within what the line goes on with. */
export function openFrame(work: Work, frame: Frame): void {
  makeRoomFor(work, frame.kind)
  work.frames.push(frame)
  work.matched = work.frames.length
}

/** Adds a block that is complete. */
export function addBlock(work: Work, block: Block): void {
  makeRoomFor(work, block.kind)
  addTo(work, block)
}

/** Closes what the line does not go on with. */
export function closeUnmatched(work: Work): void {
  while (work.frames.length > work.matched) closeInnermost(work, false)
}

/** Closes the innermost frame. `isOpen`: more of it may come, and it is closed to be looked at only. */
export function closeInnermost(work: Work, isOpen: boolean): void {
  const frame = work.frames.pop()
  if (frame === undefined) return
  work.matched = Math.min(work.matched, work.frames.length)
  const block = frame.kind === 'paragraph' ? closeParagraph(work, frame, isOpen) : toBlock(frame, isOpen)
  if (block !== undefined) addTo(work, block)
}

/** A paragraph, or a list if no item follows, ends where another block begins. */
function makeRoomFor(work: Work, kind: Frame['kind'] | Block['kind']): void {
  closeUnmatched(work)
  const frame = innermost(work)
  const isOpenToIt =
    frame.kind === 'list'
      ? kind === 'item'
      : frame.kind === 'document' || frame.kind === 'quote' || frame.kind === 'item'
  if (!isOpenToIt) closeInnermost(work, false)
}

function addTo(work: Work, block: Block | Item): void {
  const frame = innermost(work)
  if (block.kind === 'item') {
    if (frame.kind === 'list') replaceInnermost(work, { ...frame, items: append(frame.items, block) })
  } else if (frame.kind === 'document' || frame.kind === 'quote' || frame.kind === 'item') {
    replaceInnermost(work, { ...frame, children: append(frame.children, block) })
  }
}

function closeParagraph(work: Work, paragraph: FrameOf<'paragraph'>, isOpen: boolean): Block | undefined {
  const text = textOf(paragraph)
  if (isOpen) return { kind: 'paragraph', text: text.trimEnd() }
  const { rest, found } = takeDefinitions(text, work.found)
  work.found = found
  return rest.trim() === '' ? undefined : { kind: 'paragraph', text: rest.trimEnd() }
}

function toBlock(frame: Exclude<Frame, { kind: 'paragraph' }>, isOpen: boolean): Block | Item | undefined {
  switch (frame.kind) {
    case 'document':
      return undefined
    case 'quote':
      return { kind: 'quote', children: frame.children }
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

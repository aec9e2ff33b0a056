import { findMailboxes } from './address.ts'
import { showBidiControls, showOverrides } from './bidi.ts'
import { decodeEntities } from './entities.ts'
import type { Leaf, Run, Token } from './inline-token.ts'
import type { Inline, Style } from './inline.ts'
import { showAddress, showImage, showLink } from './show-link.ts'

const depthMax = 16

/** What has begun and not ended. */
interface Frame {
  readonly kind: Style | 'link' | 'image' | 'all'
  readonly target: string
  readonly children: Inline[]
  readonly isInLink: boolean
  /** It is nested too deeply: its marks are shown, and its children are those of the frame around it. */
  readonly isFlat: boolean
}

interface Build {
  readonly frames: Frame[]
  /** Text as written, which may go on. */
  source: string
}

/** Nests what the tokens tell. */
export function buildInlines(tokens: readonly Token[]): readonly Inline[] {
  const all: Frame = { kind: 'all', target: '', children: [], isInLink: false, isFlat: false }
  const build: Build = { frames: [all], source: '' }
  for (const token of tokens) addToken(build, token)
  flush(build)
  return all.children
}

function addToken(build: Build, token: Token): void {
  switch (token.kind) {
    case 'source':
      build.source += token.text
      return
    case 'run':
      return addRun(build, token)
    case 'opening':
      if (token.target === undefined) build.source += token.mark
      else open(build, token.mark === '[' ? 'link' : 'image', token.mark, token.target)
      return
    case 'closing':
      return close(build, token.source)
    case 'text':
    case 'code':
    case 'break':
    case 'address':
      flush(build)
      return addLeaf(innermost(build), token)
  }
}

/** What ends at a run comes first, then the marks that are text, then what begins. */
function addRun(build: Build, run: Run): void {
  for (const style of run.closes) close(build, marksOf(style, run))
  build.source += run.character.repeat(run.rest)
  for (const style of run.opens.toReversed()) open(build, style, marksOf(style, run), '')
}

function marksOf(style: Style, run: Run): string {
  return run.character.repeat(style === 'strong' || (style === 'deleted' && run.length === 2) ? 2 : 1)
}

function open(build: Build, kind: Frame['kind'], marks: string, target: string): void {
  const isFlat = build.frames.length > depthMax
  if (isFlat) build.source += marks
  else flush(build)
  const { isInLink, children } = innermost(build)
  build.frames.push({
    kind,
    target,
    children: isFlat ? children : [],
    isInLink: isInLink || kind === 'link' || kind === 'image',
    isFlat,
  })
}

function close(build: Build, marks: string): void {
  const frame = innermost(build)
  if (frame.isFlat) build.source += marks
  else flush(build)
  build.frames.pop()
  if (frame.isFlat) return
  const parent = innermost(build)
  for (const inline of shown(frame, parent.isInLink)) add(parent, inline)
}

function shown({ kind, target, children }: Frame, isInLink: boolean): readonly Inline[] {
  switch (kind) {
    case 'link':
      return showLink(target, children, isInLink)
    case 'image':
      return showImage(target, children, isInLink)
    case 'all':
      return children
    case 'emphasis':
    case 'strong':
    case 'deleted':
      return [{ kind, children }]
  }
}

/** Adds the text that was written so far. */
function flush(build: Build): void {
  if (build.source === '') return
  for (const leaf of findMailboxes(build.source)) addLeaf(innermost(build), leaf)
  build.source = ''
}

function addLeaf(frame: Frame, leaf: Leaf): void {
  switch (leaf.kind) {
    case 'source':
      return add(frame, textOf(frame, decodeEntities(leaf.text)))
    case 'text':
      return add(frame, textOf(frame, leaf.text))
    case 'code':
      return add(frame, { kind: 'code', text: showBidiControls(leaf.text) })
    case 'break':
      return add(frame, leaf)
    // No link is within another.
    case 'address':
      return add(
        frame,
        frame.isInLink ? textOf(frame, leaf.text) : (showAddress(leaf.target, leaf.text) ?? textOf(frame, leaf.source)),
      )
  }
}

function textOf(frame: Frame, text: string): Inline {
  return { kind: 'text', text: frame.isInLink ? showBidiControls(text) : showOverrides(text) }
}

/** Adds to what is there; text goes on with the text before it. */
function add(frame: Frame, inline: Inline): void {
  const last = frame.children.at(-1)
  if (inline.kind === 'text' && last?.kind === 'text')
    frame.children[frame.children.length - 1] = { kind: 'text', text: last.text + inline.text }
  else if (inline.kind !== 'text' || inline.text !== '') frame.children.push(inline)
}

function innermost(build: Build): Frame {
  const frame = build.frames.at(-1)
  if (frame === undefined) throw new Error('There is always a frame around all.')
  return frame
}

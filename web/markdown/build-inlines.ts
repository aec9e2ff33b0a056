import { findMailboxes } from './address.ts'
import { showBidiControls, showOverrides } from './bidi.ts'
import { decodeEntities } from './entities.ts'
import type { TextToken, DelimiterRun, Token } from './inline-token.ts'
import type { Inline, Style } from './inline.ts'
import { showAddress, showImage, showLink } from './show-link.ts'

const depthMax = 16

/** An inline element whose end was not reached yet. */
interface OpenInline {
  readonly kind: Style | 'link' | 'image' | 'all'
  readonly target: string
  readonly children: Inline[]
  readonly isInLink: boolean
  /** Nested too deeply: its marks are shown as text, and its children belong to the surrounding element. */
  readonly isFlat: boolean
}

interface InlineBuild {
  readonly open: OpenInline[]
  /** Source text to be added before the next element. */
  source: string
}

/** Builds nested inline elements from a flat list of tokens. */
export function buildInlines(tokens: readonly Token[], isInLink = false): readonly Inline[] {
  const all: OpenInline = { kind: 'all', target: '', children: [], isInLink, isFlat: false }
  const build: InlineBuild = { open: [all], source: '' }
  for (const token of tokens) addToken(build, token)
  flush(build)
  return all.children
}

function addToken(build: InlineBuild, token: Token): void {
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
    case 'element': {
      flush(build)
      const element = innermost(build)
      return add(element, { kind: token.style, children: buildInlines(token.tokens, element.isInLink) })
    }
    case 'text':
    case 'code':
    case 'break':
    case 'footnote':
    case 'formula':
    case 'address':
      flush(build)
      return addLeaf(innermost(build), token)
  }
}

/** Closes the elements that end at the run, adds its unused marks as text, then opens the elements that begin. */
function addRun(build: InlineBuild, run: DelimiterRun): void {
  for (const style of run.closes) close(build, marksOf(style, run))
  build.source += run.character.repeat(run.rest)
  for (const style of run.opens.toReversed()) open(build, style, marksOf(style, run), '')
}

function marksOf(style: Style, run: DelimiterRun): string {
  return run.character.repeat(style === 'strong' || (style === 'deleted' && run.length === 2) ? 2 : 1)
}

function open(build: InlineBuild, kind: OpenInline['kind'], marks: string, target: string): void {
  const isFlat = build.open.length > depthMax
  if (isFlat) build.source += marks
  else flush(build)
  const { isInLink, children } = innermost(build)
  build.open.push({
    kind,
    target,
    children: isFlat ? children : [],
    isInLink: isInLink || kind === 'link' || kind === 'image',
    isFlat,
  })
}

function close(build: InlineBuild, marks: string): void {
  const element = innermost(build)
  if (element.isFlat) build.source += marks
  else flush(build)
  build.open.pop()
  if (element.isFlat) return
  const parent = innermost(build)
  for (const inline of shown(element, parent.isInLink)) add(parent, inline)
}

function shown({ kind, target, children }: OpenInline, isInLink: boolean): readonly Inline[] {
  switch (kind) {
    case 'link':
      return showLink(target, children, isInLink)
    case 'image':
      return showImage(target, children, isInLink)
    case 'all':
      return children
    default:
      return [{ kind, children }]
  }
}

/** Adds the collected source text to the innermost element. */
function flush(build: InlineBuild): void {
  if (build.source === '') return
  for (const leaf of findMailboxes(build.source)) addLeaf(innermost(build), leaf)
  build.source = ''
}

function addLeaf(element: OpenInline, leaf: TextToken): void {
  switch (leaf.kind) {
    case 'source':
      return add(element, textOf(element, decodeEntities(leaf.text)))
    case 'text':
      return add(element, textOf(element, leaf.text))
    case 'code':
      return add(element, { kind: 'code', text: showBidiControls(leaf.text) })
    case 'break':
    case 'footnote':
    case 'formula':
      return add(element, leaf)
    // Links do not nest.
    case 'address':
      return add(
        element,
        element.isInLink
          ? textOf(element, leaf.text)
          : (showAddress(leaf.target, leaf.text) ?? textOf(element, leaf.source)),
      )
  }
}

function textOf(element: OpenInline, text: string): Inline {
  return { kind: 'text', text: element.isInLink ? showBidiControls(text) : showOverrides(text) }
}

/** Appends an inline element. Adjacent texts are merged. */
function add(element: OpenInline, inline: Inline): void {
  const last = element.children.at(-1)
  if (inline.kind === 'text' && last?.kind === 'text')
    element.children[element.children.length - 1] = { kind: 'text', text: last.text + inline.text }
  else if (inline.kind !== 'text' || inline.text !== '') element.children.push(inline)
}

function innermost(build: InlineBuild): OpenInline {
  const element = build.open.at(-1)
  if (element === undefined) throw new Error('No inline element is open')
  return element
}

import { Lexer, type MarkedToken, type Token } from 'marked'
import { showBidiControls, showOverrides } from './bidi.ts'
import { definitionsFor, type Definitions } from './definitions.ts'
import { judgeDestination, namesAnotherHost } from './destination.ts'
import { decodeEntities } from './entities.ts'

/** A part of running text, ready to be shown. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | { readonly kind: 'emphasis' | 'strong' | 'deleted'; readonly children: readonly Inline[] }
  /** `address`: http, https or mailto. */
  | { readonly kind: 'link'; readonly address: string; readonly children: readonly Inline[] }
  /** `source`: a data URL of an image. */
  | { readonly kind: 'image'; readonly source: string; readonly alternative: string }

const inlineKinds: ReadonlySet<string> = new Set(['text', 'escape', 'html', 'codespan', 'br', 'em', 'strong', 'del', 'link', 'image'])

/** Reads one piece of running text (`pieces.ts` bounds it). Labels are looked up in the definitions. */
export function readInline(text: string, definitions: Definitions): readonly Inline[] {
  return mergeTexts(convertAll(lex(text, definitions), { isInLink: false }))
}

function lex(text: string, definitions: Definitions): readonly Token[] {
  const lexer = new Lexer({ gfm: true })
  for (const [label, destination] of definitionsFor(text, definitions)) lexer.tokens.links[label] = { href: destination, title: null }
  try {
    return lexer.inlineTokens(text)
  } catch {
    // The lexer gives up on what it cannot make progress with. The text itself is shown then.
    return [{ type: 'text', raw: text, text }]
  }
}

interface Place {
  readonly isInLink: boolean
}

function convertAll(tokens: readonly Token[], place: Place): readonly Inline[] {
  return tokens.flatMap((token) => isInlineToken(token) ? convert(token, place) : [textOf(token.raw, place)])
}

function isInlineToken(token: Token): token is MarkedToken {
  return inlineKinds.has(token.type)
}

function convert(token: MarkedToken, place: Place): readonly Inline[] {
  switch (token.type) {
    // The lexer's `text` has some references decoded and others not, so what was written is decoded here.
    case 'text': return [textOf(decodeEntities(token.raw), place)]
    case 'escape': return [textOf(token.text, place)]
    case 'codespan': return [{ kind: 'code', text: showBidiControls(token.text) }]
    case 'br': return [{ kind: 'break' }]
    case 'html': return /^<br\s*\/?>$/i.test(token.raw) ? [{ kind: 'break' }] : [textOf(token.raw, place)]
    case 'em': return [{ kind: 'emphasis', children: convertAll(token.tokens, place) }]
    case 'strong': return [{ kind: 'strong', children: convertAll(token.tokens, place) }]
    case 'del': return [{ kind: 'deleted', children: convertAll(token.tokens, place) }]
    case 'link': return token.autolink === true ? convertAutolink(token.href, token.text, place) : convertLink(token.href, token.tokens, place)
    case 'image': return convertImage(token.href, token.tokens, place)
    case 'blockquote':
    case 'checkbox':
    case 'code':
    case 'def':
    case 'heading':
    case 'hr':
    case 'list':
    case 'list_item':
    case 'paragraph':
    case 'space':
    case 'table': return [textOf(token.raw, place)]
  }
}

function textOf(text: string, place: Place): Inline {
  return { kind: 'text', text: place.isInLink ? showBidiControls(text) : showOverrides(text) }
}

/** An address in running text, which is literal. */
function convertAutolink(href: string, text: string, place: Place): readonly Inline[] {
  const destination = judgeDestination(href)
  if (destination.kind !== 'link' || place.isInLink) return [textOf(text, place)]
  return [{ kind: 'link', address: destination.address, children: [textOf(text, { isInLink: true })] }]
}

function convertLink(href: string, tokens: readonly Token[], place: Place): readonly Inline[] {
  const children = convertAll(tokens, { isInLink: true }), written = decodeEntities(href), destination = judgeDestination(written)
  if (destination.kind !== 'link' || place.isInLink) return [...children, ...destinationAsText(written)]
  const link: Inline = { kind: 'link', address: destination.address, children: children.length > 0 ? children : [{ kind: 'text', text: destination.address }] }
  return namesAnotherHost(plainText(children), destination.host) ? [link, ...destinationAsText(destination.host)] : [link]
}

function convertImage(href: string, tokens: readonly Token[], place: Place): readonly Inline[] {
  const alternative = plainText(convertAll(tokens, { isInLink: true })), written = decodeEntities(href), destination = judgeDestination(written)
  if (destination.kind === 'image') return [{ kind: 'image', source: destination.source, alternative }]
  const shown: Inline = { kind: 'text', text: alternative }
  if (destination.kind === 'none' || place.isInLink) return [shown, ...destinationAsText(written)]
  return [{ kind: 'link', address: destination.address, children: [alternative === '' ? { kind: 'text', text: destination.address } : shown] }]
}

function destinationAsText(destination: string): readonly Inline[] {
  return destination === '' ? [] : [{ kind: 'text', text: ` (${showBidiControls(destination)})` }]
}

/** The text without its form. */
export function plainText(inlines: readonly Inline[]): string {
  return inlines.map((inline) => {
    switch (inline.kind) {
      case 'text':
      case 'code': return inline.text
      case 'break': return ' '
      case 'image': return inline.alternative
      case 'emphasis':
      case 'strong':
      case 'deleted':
      case 'link': return plainText(inline.children)
    }
  }).join('')
}

function mergeTexts(inlines: readonly Inline[]): readonly Inline[] {
  const merged: Inline[] = []
  for (const inline of inlines) {
    const last = merged.at(-1)
    if (inline.kind === 'text' && last?.kind === 'text') merged[merged.length - 1] = { kind: 'text', text: last.text + inline.text }
    else merged.push(inline)
  }
  return merged
}

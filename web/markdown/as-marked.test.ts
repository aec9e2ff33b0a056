import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Lexer, type MarkedToken, type Token } from 'marked'
import { showBidiControls } from './bidi.ts'
import { decodeEntities } from './entities.ts'
import type { Inline } from './inline.ts'
import { readInline } from './read-inline.ts'
import { showAddress, showImage, showLink } from './show-link.ts'
import { outlineInlines } from './testing.ts'

const definitions = new Map([['k', 'https://k.example/']])

/** The text as marked reads it, shown as ours. */
function asMarked(text: string): readonly Inline[] {
  const lexer = new Lexer({ gfm: true })
  lexer.tokens.links['k'] = { href: 'https://k.example/', title: null }
  return shownAll(lexer.inlineTokens(text), false)
}

function shownAll(tokens: readonly Token[] | undefined, isInLink: boolean): readonly Inline[] {
  return (tokens ?? []).flatMap((token) => (isOfMarked(token) ? shown(token, isInLink) : []))
}

/** Its own kinds, unlike those of extensions, of which there are none. */
function isOfMarked(token: Token): token is MarkedToken {
  return ['text', 'escape', 'html', 'codespan', 'br', 'em', 'strong', 'del', 'link', 'image'].includes(token.type)
}

function shown(token: MarkedToken, isInLink: boolean): readonly Inline[] {
  switch (token.type) {
    case 'escape':
      return [{ kind: 'text', text: token.text }]
    case 'html':
      return [{ kind: 'text', text: token.raw }]
    case 'codespan':
      return [{ kind: 'code', text: showBidiControls(token.text) }]
    case 'br':
      return [{ kind: 'break' }]
    case 'em':
      return [{ kind: 'emphasis', children: shownAll(token.tokens, isInLink) }]
    case 'strong':
      return [{ kind: 'strong', children: shownAll(token.tokens, isInLink) }]
    case 'del':
      return [{ kind: 'deleted', children: shownAll(token.tokens, isInLink) }]
    case 'image':
      return showImage(decodeEntities(token.href), shownAll(token.tokens, true), isInLink)
    case 'link':
      return token.autolink === true && !isInLink
        ? [showAddress(token.href, token.text) ?? { kind: 'text', text: token.raw }]
        : showLink(decodeEntities(token.href), shownAll(token.tokens, true), isInLink)
    default:
      return [{ kind: 'text', text: decodeEntities(token.raw) }]
  }
}

/** What marked reads otherwise than CommonMark and GFM say; there we follow these. Texts with any of it are left out. */
const others: Readonly<Record<string, (text: string) => boolean>> = {
  'runs of the other of `*` and `_` hide what opens and closes around them': (text) =>
    text.includes('*') && text.includes('_'),
  'runs of several lengths do not always find the nearest one, and close with their last marks': (text) =>
    new Set(text.match(/\*+|_+/g)?.map((run) => run.length)).size > 1,
  'tildes hide what is beside a run': (text) => /[*_]~|~[*_]/.test(text),
  'marks in a comment are marks': (text) => /<!--[^]*[*_~`]/.test(text),
  'a back-tick in brackets keeps a link from being one, whether it begins code or not; a hard break in them is none': (
    text,
  ) => /\[[^]*(?:`|(?: {2}|\\)\n)/.test(text),
  'an escaped bracket hides marks as if it began a link': (text) => /\\\[/.test(text),
  'an escaped mark is part of the run beside it': (text) => /\\[*_~][*_~]/.test(text),
  'a label of spaces is one': (text) => /\[\s*\]/.test(text),
  'marks in what may be a label, but is none, are hidden': (text) => /\]\[[^\]]*[*_~]/.test(text),
  'white space is a destination': (text) => /\]\(\s+\)/.test(text),
  'an address or a mailbox takes in other marks around it': (text) => /[^ ](?:https:|a@)|example[^ >)"]/.test(text),
  'a line with nothing but spaces is none': (text) => /\n\s*\n/.test(text),
}

const parts = [
  '*',
  '**',
  '***',
  '_',
  '__',
  '~',
  '~~',
  '`',
  '``',
  '[',
  ']',
  '](https://a.example)',
  '](<https://b.example> "c")',
  '![',
  '[k]',
  '[]',
  '\\',
  '\\*',
  '(',
  ')',
  '<',
  '>',
  '<b>',
  '<c d="*">',
  '<!-- e',
  '-->',
  '&amp;',
  '&#42;',
  '&',
  '\n',
  '  \n',
  '<https://f.example>',
  ' https://g.example/h ',
  ' a@i.example ',
  '.',
  '"',
  'one',
  'two',
  'é',
  '文',
  ' ',
  ' ',
  ' ',
]
const text = fc
  .array(fc.constantFrom(...parts), { maxLength: 12 })
  .map((chosen) => `x${chosen.join('')}z`)
  .filter((written) => Object.values(others).every((isOther) => !isOther(written)))

/** Spaces around the end of a line are not seen; neither is whether text is one piece or several. */
function comparable(inlines: readonly Inline[]): string {
  return outlineInlines(inlines)
    .replace(/ *\n */g, '\n')
    .replace(/ +/g, ' ')
}

test('running text is read as marked reads it, but for what marked reads otherwise than it is specified', () => {
  fc.assert(
    fc.property(text, (written) =>
      expect(comparable(readInline(written, definitions))).toBe(comparable(asMarked(written))),
    ),
    { numRuns: 2_000, seed: 1 },
  )
})

test.each([
  ['x__*__one*__z', 'x__{emphasis __one}__z'],
  ['x**one*<***(z', 'x{strong one*<}*(z'],
  ['x**one<!-- two**<b>-->z', 'x**one<!-- two**<b>-->z'],
  ['*~~*one', '*~~*one'],
  ['[one `two](https://a.example)', '{https://a.example/ one `two}'],
  ['[  \n](https://a.example)', '{https://a.example/ {break}}'],
  ['xhttps://a.example', 'xhttps://a.example'],
])('where marked reads %p otherwise, it is read as it is specified', (written, expected) => {
  expect(outlineInlines(readInline(written, definitions))).toBe(expected)
  expect(comparable(asMarked(written))).not.toBe(expected)
})

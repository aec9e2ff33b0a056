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

/** Parses the text with marked, and converts the result. */
function asMarked(text: string): readonly Inline[] {
  const lexer = new Lexer({ gfm: true })
  lexer.tokens.links['k'] = { href: 'https://k.example/', title: null }
  return shownAll(lexer.inlineTokens(text), false)
}

function shownAll(tokens: readonly Token[] | undefined, isInLink: boolean): readonly Inline[] {
  return (tokens ?? []).flatMap((token) => (isOfMarked(token) ? shown(token, isInLink) : []))
}

/** Marked has no extensions here, so all tokens are of its own kinds. */
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

/** Differences of marked from CommonMark and GFM, by description. Texts with one of them are not compared. */
const differences: Readonly<Record<string, (text: string) => boolean>> = {
  'runs of the other of `*` and `_` hide openers and closers around them': (text) =>
    text.includes('*') && text.includes('_'),
  'runs of several lengths do not always find the nearest one, and close with their last marks': (text) =>
    new Set(text.match(/\*+|_+/g)?.map((run) => run.length)).size > 1,
  'tildes hide the characters beside a run': (text) => /[*_]~|~[*_]/.test(text),
  'a single tilde within words is text': (text) => /(?<![\s~])~(?![\s~])/.test(text),
  'marks in a comment are marks': (text) => /<!--[^]*[*_~`]/.test(text),
  'a back-tick in brackets prevents a link, and a hard break in brackets is ignored': (text) =>
    /\[[^]*(?:`|(?: {2}|\\)\n)/.test(text),
  'escaped brackets begin no formula': (text) => /\\[([]/.test(text),
  'an escaped mark is part of the run beside it': (text) => /\\[*_~][*_~]/.test(text),
  'a label may be blank': (text) => /\[\s*\]/.test(text),
  'marks in an undefined label are hidden': (text) => /\]\[[^\]]*[*_~]/.test(text),
  'white space is a destination': (text) => /\]\(\s+\)/.test(text),
  'an address or a mailbox takes in other marks around it': (text) => /[^ ](?:https:|a@)|example[^ >)"]/.test(text),
  'a line of spaces is dropped': (text) => /\n\s*\n/.test(text),
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
  .filter((written) => Object.values(differences).every((isDifferent) => !isDifferent(written)))

/** Ignores spaces at line ends, and how text is split. */
function comparable(inlines: readonly Inline[]): string {
  return outlineInlines(inlines)
    .replace(/ *\n */g, '\n')
    .replace(/ +/g, ' ')
}

test('inline text is parsed as marked parses it, except for known differences of marked from the specification', () => {
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
])('%p is parsed as specified, unlike marked', (written, expected) => {
  expect(outlineInlines(readInline(written, definitions))).toBe(expected)
  expect(comparable(asMarked(written))).not.toBe(expected)
})

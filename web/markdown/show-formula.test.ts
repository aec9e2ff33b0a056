import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { renderToStaticMarkup } from 'react-dom/server'
import { processorMs } from '../../src/base/testing.ts'
import { showFormula } from './show-formula.ts'

/** Markup of a formula; undefined if it is shown as its source. */
function markup(source: string, isDisplay = false): string | undefined {
  const shown = showFormula(source, isDisplay)
  return shown === undefined ? undefined : renderToStaticMarkup(shown)
}

const names =
  'math|mrow|mi|mn|mo|mtext|mspace|msup|msub|msubsup|mover|munder|munderover|mmultiscripts|mprescripts|none' +
  '|mfrac|msqrt|mroot|mpadded|mphantom|mstyle|mtable|mtr|mtd|menclose'
const attributes =
  'accent|alttext|class|columnspan|depth|display|displaystyle|fence|form|height|largeop' +
  '|linethickness|lspace|mathbackground|mathcolor|mathsize|mathvariant|maxsize' +
  '|minsize|movablelimits|rspace|scriptlevel' +
  '|separator|stretchy|style|symmetric|voffset|width'
const tag = new RegExp(`<(?:/(?:${names})|(?:${names})(?: (?:${attributes})="[^"<>]*")*)>`, 'g')

/** Expects markup of known elements and attributes alone, whose styles load nothing and cover nothing. */
function expectHarmless(html: string): void {
  expect(html.replace(tag, '')).not.toMatch(/[<>]/)
  for (const [, style = ''] of html.matchAll(/ style="([^"]*)"/g)) {
    expect(style.replace(/light-dark\([^()]*, color-mix\(in oklab, [^()]*\)\)/g, '')).not.toMatch(
      /[(\\]|position|-\d\d/,
    )
  }
}

describe('a formula', () => {
  test.each([
    ['in a line', 'x^2', '<math alttext="x^2"><msup><mi>x</mi><mn class="tml-sml-pad">2</mn></msup></math>'],
    [
      'with letters of HTML',
      'a<b',
      '<math alttext="a&lt;b"><mrow><mi>a</mi><mo>&lt;</mo></mrow><mrow><mi>b</mi></mrow></math>',
    ],
  ])('%s is MathML', (_name, source, expected) => {
    expect(markup(source)).toBe(expected)
  })

  test.each([
    ['on a line of its own', '\\frac{1}{2}', '<math alttext="\\frac{1}{2}" display="block"><mfrac>'],
    ['of chemistry', '\\ce{H2O}', '<msub>'],
    ['with cases', '\\begin{cases}a&b\\\\c&d\\end{cases}', '<mtable>'],
    ['with words', '\\text{if } x', '<mtext>if\u00A0</mtext>'],
    [
      'with a colour, for both themes',
      '\\color{red}x',
      'color:light-dark(#ff0000, color-mix(in oklab, #ff0000 60%, white))',
    ],
  ])('%s has what it needs', (_name, source, expected) => {
    expect(markup(source, true)).toContain(expected)
  })

  test.each([
    ['an unknown command', '\\foo{x}'],
    ['a brace that stays open', '\\frac{1}{2'],
    ['a definition', '\\def\\a{b}\\a'],
    ['a global definition', '\\gdef\\a{b}\\a'],
    ['a command', '\\newcommand{\\a}{b}\\a'],
    ['another meaning', '\\let\\a=b \\a'],
    ['an endless macro', '\\def\\a{\\a\\a}\\a'],
    ['a link', '\\href{javascript:alert(1)}{x}'],
    ['an address', '\\url{https://a.example}'],
    ['a picture', '\\includegraphics{https://a.example/b.png}'],
    ['data', '\\htmlData{a=b}{x} \\data{a=b}{x}'],
    ['a class', '\\class{hidden}{x}'],
    ['an id', '\\id{root}{x} \\htmlId{root}{x}'],
    ['a style', '\\style{position:fixed}{x} \\htmlStyle{color:red}{x}'],
    ['turned text', '\\text{a\u202Eb}'],
    ['deep nesting', `${'\\sqrt{'.repeat(200)}x${'}'.repeat(200)}`],
    ['very deep nesting', '{'.repeat(4_000)],
    ['very many elements', 'x'.repeat(3_000)],
  ])('with %s is its source', (_name, source) => {
    expect(markup(source)?.slice(0, 200)).toBeUndefined()
  })

  test.each([
    ['a reference', '\\ref{a} \\eqref{a} \\label{a}'],
    ['numbers', '\\begin{align}a&=b\\end{align}'],
    ['overlap', '\\llap{abc} \\rlap{abc} \\mathllap{a}'],
    ['negative space', '\\hspace{-500em} \\kern-99pt x \\mspace{-500mu} \\hskip-900pt'],
    ['a large box', '\\rule{1000em}{1000em} \\raisebox{-900pt}{x}'],
    ['markup', '\\text{<img src=x onerror=alert(1)>} <script>'],
    ['a colour that is more', '\\textcolor{red;background:url(https://a.example)}{x} \\colorbox{"onload=x}{y}'],
    ['characters by number', '\\char"3C \\char60 script \\char"3E'],
    ['a tip', '\\texttip{x}{<script>} \\toggle{a}{b}\\endtoggle'],
    ['a tag', '\\tag{<b>} x'],
  ])('with %s is harmless', (_name, source) => {
    for (const part of [source, ...source.split(' ')]) {
      const shown = markup(part, true)
      if (shown !== undefined) expectHarmless(shown)
    }
  })

  const command = fc.constantFrom(
    ...(
      '\\frac \\sqrt \\left( \\right) \\text \\color{red} \\hspace{-20em} ' +
      '\\rule{9em}{9em} \\begin{matrix} \\end{matrix} ' +
      '& \\\\ { } ^ _ x 1 < > " ' +
      '\\href{javascript:x} \\ce \\cancel \\boxed \\raisebox{9em} \\ref{a} \\tag{1} ' +
      '\\operatorname \\hat \\overbrace \\llap \\class{a} ' +
      "\\style{color:url(x)} \\middle| \\not \\phantom \\mathbf \\verb|a| ~ ' % $ # " +
      '\\char60 \\kern-9em \\bra \\pmod \\xrightarrow'
    ).split(' '),
  )
  test('of any commands fails, or is harmless', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 25 }), fc.boolean(), (commands, isDisplay) => {
        const shown = markup(commands.join(' '), isDisplay)
        if (shown !== undefined) expectHarmless(shown)
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    'x',
    'x^{',
    '{',
    '\\left(',
    '\\sqrt',
    '\\frac',
    '\\ce{a',
    '\\text{',
    '&',
    '\\\\',
    '\\bra{',
    '\\pmod{',
    "'",
    '~',
    '%\n',
    '\\begin{matrix}',
    '\\hline',
    '\\color{red}',
    '\\,',
    '\u0301',
    '1,',
    '\\expandafter',
  ])('of %p over and over takes little time', (part) => {
    const source = part.repeat(4_000 / part.length)
    expect(processorMs(() => void markup(source))).toBeLessThan(500)
    expect(processorMs(() => void markup(`\\begin{matrix}${source}\\end{matrix}`))).toBeLessThan(500)
  })
})

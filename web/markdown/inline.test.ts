import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { noDefinitions } from './definitions.ts'
import type { Inline } from './inline.ts'
import { readInline } from './read-inline.ts'
import { markdownText, outlineInlines } from './testing.ts'

const definitions = new Map([
  ['k', 'https://defined.example/'],
  ['bad', 'javascript:alert(1)'],
])

function read(text: string): string {
  return outlineInlines(readInline(text, definitions))
}

describe('running text', () => {
  test.each([
    [
      'emphasis',
      '*a* _b_ **c** __d__ ***e***',
      '{emphasis a} {emphasis b} {strong c} {strong d} {emphasis {strong e}}',
    ],
    ['marks within words', 'a*b*c a_b_c 2 * 3 * 4', 'a{emphasis b}c a_b_c 2 * 3 * 4'],
    ['strikethrough', '~~a~~ ~b~', '{deleted a} {deleted b}'],
    ['code', '`a` `` b`c `` `<b>&amp;`', '{code a} {code b`c} {code <b>&amp;}'],
    ['hard breaks', 'a  \nb\\\nc\nd', 'a{break}b{break}c\nd'],
    ['breaks of HTML', 'a<br>b<br/>c<BR />d', 'a{break}b{break}c{break}d'],
    [
      'other HTML, as text',
      '<b onclick="x()">a</b> <script>alert(1)</script> <!-- c -->',
      '<b onclick="x()">a</b> <script>alert(1)</script> <!-- c -->',
    ],
    ['escapes', '\\*a\\* \\<b> \\&lt; \\[c](d)', '*a* <b> &lt; [c](d)'],
    [
      'references of characters, once',
      '&lt;b&gt; &amp;lt; &amp;amp; &copy; &#65;&#x42; AT&T &unknown; &#0;',
      '<b> &lt; &amp; © AB AT&T &unknown; \uFFFD',
    ],
    ['references beside numbers', '&#65; & &copy; &amp;', 'A & © &'],
    [
      'links',
      '[a *b*](https://c.example/d "t") [](https://e.example)',
      '{https://c.example/d a {emphasis b}} {https://e.example/ https://e.example/}',
    ],
    [
      'links with references in their destination',
      '[a](https://b.example/?c=1&amp;d=2)',
      '{https://b.example/?c=1&d=2 a}',
    ],
    ['mailboxes', '[a](mailto:b@c.example) <d@e.example>', '{mailto:b@c.example a} {mailto:d@e.example d@e.example}'],
    [
      'addresses in the text',
      'see https://a.example/b_c_d, or www.e.example.',
      'see {https://a.example/b_c_d https://a.example/b_c_d}, or {http://www.e.example/ www.e.example}.',
    ],
    [
      'addresses in brackets',
      '<https://a.example/?b&amp;c>',
      '{https://a.example/?b&amp;c https://a.example/?b&amp;c}',
    ],
    [
      'links by label',
      '[a][k] [K] [k][] [none] [b][bad]',
      '{https://defined.example/ a} {https://defined.example/ K} {https://defined.example/ k} [none] b ' +
        '(javascript:alert(1))',
    ],
    [
      'images from elsewhere, as links',
      '![a *b*](https://c.example/d.png) ![](http://e.example/f.gif)',
      '{https://c.example/d.png a b} {http://e.example/f.gif http://e.example/f.gif}',
    ],
    ['images that are in the text', '![a](data:image/png;base64,AAAA)', '{image data:image/png;base64,AAAA a}'],
    [
      'images within links',
      '[![a](https://b.example/c.png)](https://d.example)',
      '{https://d.example/ a (https://b.example/c.png)}',
    ],
    ['a destination that is nowhere', '[a](b/c.html) [d](#e) [f]()', 'a (b/c.html) d (#e) f'],
  ])('has %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test.each([
    [
      'another host than its text',
      '[https://bank.example/login](https://evil.example/x)',
      '{https://evil.example/x https://bank.example/login} (evil.example)',
    ],
    [
      'another host than its text, without a protocol',
      '[www.bank.example](https://evil.example)',
      '{https://evil.example/ www.bank.example} (evil.example)',
    ],
    [
      'the host of its text',
      '[https://www.bank.example/a](http://bank.example/b)',
      '{http://bank.example/b https://www.bank.example/a}',
    ],
    ['some other text', '[Node.js](https://nodejs.example)', '{https://nodejs.example/ Node.js}'],
  ])('says where a link leads whose destination is %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test.each([
    ['in a link', '[a\u202Eb\u200F](https://c.example)', '{https://c.example/ a⟨U+202E⟩b⟨U+200F⟩}'],
    ['in a destination', '[a](https://c.example/\u202Egpj.exe)', '{https://c.example/%E2%80%AEgpj.exe a}'],
    ['in a destination that is text', '[a](x\u202Ey)', 'a (x⟨U+202E⟩y)'],
    ['as references', '[a&#x202E;b](https://c.example) &#8238;', '{https://c.example/ a⟨U+202E⟩b} ⟨U+202E⟩'],
    ['of Arabic, in a link', '[a\u061Cb](https://c.example)', '{https://c.example/ a⟨U+061C⟩b}'],
    ['in code', '`a\u2066b`', '{code a⟨U+2066⟩b}'],
    ['in prose: overrides', 'a\u202Db\u202Ec', 'a⟨U+202D⟩b⟨U+202E⟩c'],
    ['but not the marks that prose needs', 'שלום\u200F, a\u200Eb', 'שלום\u200F, a\u200Eb'],
  ])('shows what turns the direction of text %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test('never has a link or an image of another kind than those allowed', () => {
    fc.assert(
      fc.property(markdownText, (text) => {
        for (const inline of allOf(readInline(text, definitions))) {
          if (inline.kind === 'link') expect(inline.address).toMatch(/^(?:https?:\/\/|mailto:)[\x21-\x7e]*$/)
          if (inline.kind === 'image') expect(inline.source).toMatch(/^data:image\/png;base64,[A-Za-z0-9+/=]+$/)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('has no definition by an inherited name', () => {
    expect(outlineInlines(readInline('[constructor] [valueOf] [toString][]', noDefinitions))).toBe(
      '[constructor] [valueOf] [toString][]',
    )
  })
})

function allOf(inlines: readonly Inline[]): readonly Inline[] {
  return inlines.flatMap((inline) => ('children' in inline ? [inline, ...allOf(inline.children)] : [inline]))
}

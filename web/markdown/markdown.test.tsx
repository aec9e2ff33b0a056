import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { renderToStaticMarkup } from 'react-dom/server'
import { processorMs } from '../../src/base/testing.ts'
import { Markdown } from './markdown.tsx'
import { markdownText } from './testing.ts'

function markup(text: string, isStreaming = false): string {
  return renderToStaticMarkup(<Markdown text={text} isStreaming={isStreaming} />)
}

/** Markup without styling attributes and without the outer boxes. */
function bare(text: string): string {
  return markup(text)
    .replace(/ (?:class|style)="[^"]*"/g, '')
    .replace(/^<div><div>|<\/div><\/div>$/g, '')
}

interface Tag {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
}

/** Parses the tags of markup rendered by React, which quotes every attribute. */
function tagsOf(html: string): readonly Tag[] {
  return [...html.matchAll(/<([a-zA-Z][^\s/>]*)((?:\s+[^\s=>]+="[^"]*")*)\s*\/?>/g)].map((match) => ({
    name: match[1] ?? '',
    attributes: new Map(
      [...(match[2] ?? '').matchAll(/([^\s=]+)="([^"]*)"/g)].map((attribute) => [
        attribute[1] ?? '',
        attribute[2] ?? '',
      ]),
    ),
  }))
}

/** Visible text. */
function visibleText(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#x27;/g, "'")
    .replace(/&amp;/g, '&')
}

const everywhere = ['class', 'dir', 'role']
const allowed: Readonly<Record<string, readonly string[]>> = {
  div: ['tabindex', 'aria-label', 'data-footnote'],
  details: ['open'],
  summary: [],
  sub: [],
  sup: [],
  kbd: [],
  p: [],
  h3: [],
  h4: [],
  h5: [],
  h6: [],
  hr: [],
  blockquote: [],
  ul: [],
  ol: ['start'],
  li: [],
  br: [],
  em: [],
  strong: [],
  del: [],
  code: [],
  input: ['type', 'disabled', 'checked', 'readOnly', 'aria-label'],
  table: [],
  thead: [],
  tbody: [],
  tr: [],
  th: ['scope'],
  td: ['colSpan'],
  pre: ['tabindex', 'aria-label'],
  span: ['style'],
  a: ['href', 'title', 'rel', 'target'],
  img: ['src', 'alt', 'decoding'],
  button: ['type', 'aria-label', 'title', 'data-mark'],
  svg: ['viewBox', 'fill', 'stroke', 'stroke-width', 'stroke-linecap', 'stroke-linejoin', 'aria-hidden'],
  path: ['d'],
}

function expectHarmless(html: string): void {
  for (const { name, attributes } of tagsOf(html)) {
    const known = allowed[name]
    if (known === undefined) throw new Error(`<${name}> in ${html}`)
    for (const attribute of attributes.keys())
      if (![...everywhere, ...known].includes(attribute)) throw new Error(`${attribute} of <${name}> in ${html}`)
    const href = attributes.get('href'),
      source = attributes.get('src')
    if (href !== undefined) expect(href).toMatch(/^(?:https?:\/\/|mailto:)[\x21-\x7e]*$/)
    if (source !== undefined) expect(source).toMatch(/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]*$/)
    if (name === 'a')
      expect([attributes.get('rel'), attributes.get('target')]).toEqual(['noreferrer noopener', '_blank'])
    if (name === 'a') expect(attributes.get('title')).toBe(href)
  }
  // The text between the tags contains no further tag.
  expect(html.replace(/<\/?[a-zA-Z][^<>]*>/g, '')).not.toContain('<')
}

describe('Markdown', () => {
  test.each([
    ['paragraphs', 'a\n\nb', '<p dir="auto">a</p><p dir="auto">b</p>'],
    [
      'headings below those of the page',
      '# a\n## b\n### c\n#### d\n##### e',
      '<h3 dir="auto">a</h3><h4 dir="auto">b</h4><h5 dir="auto">c</h5><h6 dir="auto">d</h6><h6 dir="auto">e</h6>',
    ],
    [
      'headings without a level left out',
      '### a\n###### b\n#### c\n# d\n## e',
      '<h3 dir="auto">a</h3><h4 dir="auto">b</h4><h4 dir="auto">c</h4><h3 dir="auto">d</h3><h4 dir="auto">e</h4>',
    ],
    ['lists', '- a\n  1. b', '<ul dir="auto"><li><p>a</p><ol dir="auto" start="1"><li><p>b</p></li></ol></li></ul>'],
    [
      'tasks',
      '- [x] a',
      '<ul dir="auto"><li><input type="checkbox" disabled="" readOnly="" aria-label="Done" checked=""/>' +
        '<div><p>a</p></div></li></ul>',
    ],
    ['quotes', '> a', '<blockquote dir="auto"><p>a</p></blockquote>'],
    ['rules', '---', '<hr/>'],
    [
      'tables',
      '|a|b|\n|-|-|\n|`1`|',
      '<div role="group" tabindex="0" aria-label="Table: a, b"><div dir="auto"><table>' +
        '<thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>' +
        '<tbody><tr><td><code dir="ltr">1</code></td><td colSpan="1"></td></tr></tbody></table></div></div>',
    ],
    [
      'running text',
      '*a* **b** ~~c~~ `d`  \ne',
      '<p dir="auto"><em>a</em> <strong>b</strong> <del>c</del> <code dir="ltr">d</code><br/>e</p>',
    ],
    [
      'links',
      '[a](https://b.example)',
      '<p dir="auto"><a href="https://b.example/" title="https://b.example/" rel="noreferrer noopener" ' +
        'target="_blank" dir="auto">a</a></p>',
    ],
    [
      'images that are in the text',
      '![a](data:image/png;base64,AA==)',
      '<p dir="auto"><img src="data:image/png;base64,AA==" alt="a" decoding="async"/></p>',
    ],
    [
      'footnotes, with buttons that lead there and back',
      'a[^b]\n\n[^b]: c',
      '<p dir="auto">a<sup><button type="button" aria-label="Footnote b" data-mark="b">b</button></sup></p>' +
        '<div data-footnote="b" tabindex="-1">' +
        '<button type="button" aria-label="Back to the mark of footnote b">b.</button><div><p>c</p></div></div>',
    ],
    [
      'details',
      '<details>\n<summary>a <kbd>b</kbd></summary>\nc\n</details>',
      '<details dir="auto"><summary>a <kbd>b</kbd></summary><div><p>c</p></div></details>',
    ],
    [
      'formulas as their source until the library is loaded',
      '$a$\n$$\nb\n$$',
      '<p dir="auto"><code dir="ltr">$a$</code></p><p dir="ltr"><code dir="ltr">$$\nb\n$$</code></p>',
    ],
    [
      'raw HTML as text',
      '<div onclick="a()">\nb\n</div>',
      '<pre dir="auto"><span>&lt;div onclick=&quot;a()&quot;&gt;\nb\n&lt;/div&gt;\n</span></pre>',
    ],
  ])('shows %s', (_name, text, expected) => {
    expect(bare(text)).toBe(expected)
  })

  test('shows code with its language and a button that copies it', () => {
    const html = bare('```ts file.ts\nlet a = "<b>" // \u202E\n```')
    expect(html).toContain('<span>ts file.ts</span><button type="button" aria-label="Copy code"')
    expect(html).toContain(
      '<pre role="group" tabindex="0" aria-label="Code, ts"><code>' +
        '<span>let a = &quot;&lt;b&gt;&quot; // ⟨U+202E⟩\n</span></code></pre>',
    )
  })

  test('resolves links by label when the text has ended', () => {
    expect(markup('[a][b]\n\n[b]: https://c.example\n', true)).toContain('[a][b]')
    expect(markup('[a][b]\n\n[b]: https://c.example\n')).toContain('href="https://c.example/"')
  })

  test('says that an image is arriving, instead of showing its bytes', () => {
    const html = markup(`![a](data:image/png;base64,${'A'.repeat(5_000)}`, true)
    expect(visibleText(html)).toBe('An image is arriving: a…')
    expect(markup(`![a](data:image/png;base64,${'A'.repeat(5_000)})`)).toContain('<img src="data:image/png;base64,AAAA')
  })

  test('has a very long list in parts that count on', () => {
    expect(bare('1. a\n'.repeat(200)).match(/<ol [^>]*>/g)).toEqual([
      '<ol dir="auto" start="1">',
      '<ol dir="auto" start="129">',
    ])
  })

  test('has a very long table in parts that are one for a screen reader', () => {
    const html = bare(`|a|\n|-|\n${'|b|\n'.repeat(100)}`)
    expect(html.match(/<table role="presentation">/g)).toHaveLength(2)
    expect(html).toContain('<div role="table" dir="auto">')
    expect(html.match(/role="columnheader"/g)).toHaveLength(1)
    expect(html.match(/<td role="cell">b<\/td>/g)).toHaveLength(100)
  })

  test('lays a very long paragraph out in parts', () => {
    expect(markup('word and word. '.repeat(3_000)).match(/<span class="block/g)?.length).toBeGreaterThan(2)
    expect(markup('word and word. '.repeat(30))).not.toContain('<span')
  })
})

describe('a hostile text', () => {
  test.each([
    ['a script', '<script>alert(1)</script>'],
    ['a script within text', 'a <script>alert(1)</script> b'],
    ['an image with a handler', '<img src=x onerror=alert(1)>'],
    ['a frame', '<iframe srcdoc="<script>alert(1)</script>"></iframe>'],
    ['a style', '<style>*{display:none}</style>'],
    ['a link to a script', '[a](javascript:alert(1))'],
    [
      'a link to a script by a reference',
      '[a](javascript&colon;alert(1)) [b](&#106;avascript:alert(1)) [c](&#x6A;avascript:alert(1))',
    ],
    [
      'a link to a script with white space',
      '[a](<java\tscript:alert(1)>) [b](< javascript:alert(1)>) [c](java&Tab;script:alert(1)) ' +
        '[d](java&#10;script:alert(1))',
    ],
    ['a link to a script by label', '[a][b]\n\n[b]: javascript:alert(1)'],
    ['a link to a script as an address', '<javascript:alert(1)> <vbscript:x> <data:text/html,x>'],
    ['a link to HTML', '[a](data:text/html;base64,PHNjcmlwdD4=) ![b](data:text/html,<script>)'],
    ['an image that is a script', '![a](javascript:alert(1)) ![b](data:image/svg+xml,<svg/onload=alert(1)>)'],
    [
      'an attribute that ends early',
      '[a](https://b.example/"onmouseover="alert(1)) ![c"onerror="x](data:image/png;base64,AA==)',
    ],
    ['a language that ends early', '```"><script>alert(1)</script>\na\n```'],
    ['a header that ends early', '|"><script>|\n|-|\n'],
  ])('with %s is shown harmlessly', (_name, text) => {
    for (const isStreaming of [true, false]) expectHarmless(markup(text, isStreaming))
  })

  test('never makes an element, an attribute or a destination that is not allowed', () => {
    fc.assert(
      fc.property(markdownText, fc.boolean(), (text, isStreaming) => expectHarmless(markup(text, isStreaming))),
      { numRuns: 400 },
    )
  })

  test('loses no word', () => {
    const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'],
      marks = [
        '*',
        '**',
        '_',
        '~~',
        '`',
        ' ',
        ' ',
        '\n',
        '\n\n',
        '> ',
        '- ',
        '1. ',
        '# ',
        '|',
        '|-|-|\n',
        '---\n',
        '[',
        ']',
        '(',
        ')',
        '![',
        '](',
        '<',
        '>',
        '\\',
        '    ',
        '\n```\n',
        '<div>',
        '<!--',
        '&',
      ]
    const text = fc.array(fc.constantFrom(...words, ...marks), { maxLength: 50 })
    fc.assert(
      fc.property(text, (parts) => {
        const shown = markup(parts.join(''))
        const places =
          visibleText(shown) +
          tagsOf(shown)
            .flatMap(({ attributes }) => [...attributes.values()])
            .join(' ')
        for (const word of words)
          expect(count(places, word)).toBeGreaterThanOrEqual(parts.filter((part) => part === word).length)
      }),
      { numRuns: 500 },
    )
  })

  // Running text has its own in read-inline.test.ts. None takes a second; quadratic time would take minutes.
  test.each([
    '[a][b]',
    '_*',
    '> ',
    '- ',
    '- - ',
    '1. ',
    '    ',
    '\t',
    '|',
    '|-',
    '|a|\n|-|\n',
    '\\[',
    '&amp;',
    'mailto:a',
    '[a]: b\n',
    '[a]: b\n[a] ',
    '#',
    '# ',
    '=\n',
    'a\n=\n',
    '-\n',
    '>\n',
    '> -\n',
    '```\n',
    '~~~\n\n',
    ' \n',
    '\n',
    '![a](data:image/png;base64,A',
    '$',
    '$ ',
    '$a ',
    '$a$ ',
    '$$',
    '$$a',
    '$$ $a ',
    '$\\$',
    '$`',
    '$$\n',
    '$$a\n',
    '- $$\n',
    '\\(',
    '\\(a\\) ',
    '\\[\\(',
    '\\[\n',
    '\\[\na\n$$\n',
    '[^',
    '[^1]',
    '[^1]: ',
    '[^1]: a\n',
    '[^1]: a[^1]\n\n',
    '<sub>',
    '<sub>a</sub>',
    '<details>',
    '<details>\n',
    '<details>\n</details>\n',
    '</details>\n',
    '<details><summary>',
    '> [!NOTE]\n',
  ])('of %p over and over is read in linear time', (part) => {
    const text = part.repeat(Math.ceil(50_000 / part.length))
    expect(processorMs(() => void markup(text))).toBeLessThan(5_000)
  })

  // The best of three runs counts, since other work on the machine slows some down.
  test.each(['$', '$a ', '$$\n', '\\(', '\\[\n', '[^', '[^1] ', '<details>', '<details>\n', '<sub>', '> [!NOTE]\n'])(
    'of 50 KB of %p takes at most 0.2 s',
    (part) => {
      const text = part.repeat(50_000 / part.length)
      const times = [1, 2, 3].map(() => processorMs(() => void markup(text)))
      expect(Math.min(...times)).toBeLessThan(200)
    },
  )
})

function count(text: string, word: string): number {
  return text.split(word).length - 1
}

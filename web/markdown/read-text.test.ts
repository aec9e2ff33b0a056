import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../../src/base/testing.ts'
import type { Block, Item } from './block.ts'
import { textReader } from './read-text.ts'
import type { Sequence } from './sequence.ts'
import { markdownText } from './testing.ts'

/** Formats blocks for comparison: `ul(li(p"a"))`. */
function outline(blocks: Sequence<Block>): string {
  return blocks.groups.flat().map(outlineOf).join(' ')
}

function outlineOf(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return `p${JSON.stringify(block.text)}`
    case 'heading':
      return `h${block.depth}${JSON.stringify(block.text)}`
    case 'rule':
      return 'hr'
    case 'quote':
      return `${block.alert ?? 'quote'}(${outline(block.children)})`
    case 'details':
      return `details${block.isOpen ? '+' : ''}${JSON.stringify(block.summary)}(${outline(block.children)})`
    case 'footnote':
      return `note:${block.label}(${outline(block.children)})`
    case 'list':
      return `${block.isOrdered ? `ol${block.start}` : 'ul'}(${block.items.groups.flat().map(outlineOfItem).join(' ')})`
    case 'table': {
      const rows = [block.header, ...block.rows.groups.flat()].map((row) => row.join('|'))
      return `table(${rows.join(' / ')}; ${block.alignments.join(' ')})`
    }
    case 'code': {
      const info = block.info === '' ? '' : `:${block.info}`
      return `code${info}${JSON.stringify(block.chunks.join(''))}${block.isOpen ? '…' : ''}`
    }
    case 'formula':
      return `formula${JSON.stringify(block.source ?? `${block.written}…`)}`
    case 'html':
      return `html${JSON.stringify(block.chunks.join(''))}`
  }
}

function outlineOfItem(item: Item): string {
  const box = item.task === 'none' ? '' : item.task === 'done' ? '[x]' : '[ ]'
  return `${item.isSpaced ? '~' : ''}${box}li(${outline(item.children)})`
}

function read(text: string, isGrowing = false): string {
  return outline(textReader().read(text, isGrowing).blocks)
}

describe('reading a text', () => {
  test.each([
    ['paragraphs and their lines', 'a\nb\n\nc', 'p"a\\nb" p"c"'],
    ['windows line ends', 'a\r\nb\r\n\r\nc\r\n', 'p"a\\nb" p"c"'],
    ['a character that may not be', 'a\0b', 'p"a\uFFFDb"'],
    ['headings', '# a\n## b ##\n### c #d\n#e\n####### f\n#', 'h1"a" h2"b" h3"c #d" p"#e\\n####### f" h1""'],
    ['underlined headings', 'a\nb\n===\nc\n---\n===', 'h1"a\\nb" h2"c" p"==="'],
    ['rules', '***\n- - -\n___\n--', 'hr hr hr p"--"'],
    ['a rule where a list might be', '- a\n***\n- b', 'ul(li(p"a")) hr ul(li(p"b"))'],
    ['nested lists', '- a\n  - b\n    c\n- d', 'ul(li(p"a" ul(li(p"b\\nc"))) li(p"d"))'],
    ['lists of another mark', '- a\n* b\n1. c\n2) d', 'ul(li(p"a")) ul(li(p"b")) ol1(li(p"c")) ol2(li(p"d"))'],
    ['where an ordered list begins', '7. a\n8. b', 'ol7(li(p"a") li(p"b"))'],
    ['a number that begins no list', 'in the year\n1984. It was', 'p"in the year\\n1984. It was"'],
    ['items after blank lines', '- a\n\n- b\n- c', 'ul(li(p"a") ~li(p"b") li(p"c"))'],
    ['items of several blocks', '1. a\n\n   b\n\n       code\n2. c', 'ol1(li(p"a" p"b" code"code\\n") li(p"c"))'],
    [
      'tasks',
      '- [ ] a\n- [x] b\n- [X] c\n- [y] d\n- [ ]\n- [x]e',
      'ul([ ]li(p"a") [x]li(p"b") [x]li(p"c") li(p"[y] d") li(p"[ ]") li(p"[x]e"))',
    ],
    ['lazy lines of an item', '- a\nb\n\nc', 'ul(li(p"a\\nb")) p"c"'],
    ['an empty item', '-\n- a\n-\n\n  b', 'ul(li() li(p"a") li()) p"b"'],
    ['quotes', '> a\nb\n> > c\n\n> d', 'quote(p"a\\nb" quote(p"c")) quote(p"d")'],
    ['a list in a quote', '> - a\n>   b\n> 1. c', 'quote(ul(li(p"a\\nb")) ol1(li(p"c")))'],
    ['fenced code', '```js a\n  let\n\n\tx\n```\nb', 'code:js a"  let\\n\\n\\tx\\n" p"b"'],
    ['a fence within longer ones', '````\n```\n````\n~~~\n```\n~~~', 'code"```\\n" code"```\\n"'],
    ['code that is not closed', 'a\n```\nb', 'p"a" code"b\\n"'],
    ['code in an item', '- a\n  ```\n  b\n    c\n  ```\n- d', 'ul(li(p"a" code"b\\n  c\\n") li(p"d"))'],
    ['code that its item ends', '- ```\n  a\nb', 'ul(li(code"a\\n")) p"b"'],
    ['indented code', '    a\n\n      b\n\nc\n    d', 'code"a\\n\\n  b\\n" p"c\\nd"'],
    ['tabs', '-\ta\n\n\tb\n\t\tc', 'ul(li(p"a" p"b\\nc"))'],
    ['tables', 'a\n| b | c |\n|:--|--:|\n| 1 | 2 |\n\nd', 'p"a" table(b|c / 1|2; left right) p"d"'],
    ['tables without outer bars', 'a | b | c\n:-: | - | :-\n1 | 2', 'table(a|b|c / 1|2; center start left)'],
    ['bars within cells', '|a|b|\n|-|-|\n|`x\\|y`|z|', 'table(a|b / `x|y`|z; start start)'],
    ['more cells than columns', '|a|b|\n|-|-|\n|1|2|3|4|', 'table(a|b / 1|2 | 3 | 4; start start)'],
    ['the end of a table', '|a|\n|-|\n|1|\n> b', 'table(a / 1; start) quote(p"b")'],
    ['no table: columns differ', '|a|b|\n|-|', 'p"|a|b|\\n|-|"'],
    [
      'raw HTML',
      '<div>\n*a*\n\nb\n\n<script>\n\nc\n</script>\nd',
      'html"<div>\\n*a*\\n" p"b" html"<script>\\n\\nc\\n</script>\\n" p"d"',
    ],
    ['a tag that goes on with a paragraph', 'a\n<b>\nc\n\n<b>\n*c*', 'p"a\\n<b>\\nc" html"<b>\\n*c*\\n"'],
    ['a comment', '<!-- a\n\nb --> c\nd', 'html"<!-- a\\n\\nb --> c\\n" p"d"'],
    [
      'definitions, which are not shown',
      '[a]: http://x\n[b]:\n <http://y>\n "t"\nc\n\n[^ 1]: note',
      'p"c" p"[^ 1]: note"',
    ],
  ])('finds %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test.each([
    ['on a line', '$$ a $$\n\\[b\\]\n', 'formula" a " formula"b"'],
    ['over lines, which begin nothing else', 'a\n$$\n+ b\n= c\n=\n$$\nd', 'p"a" formula"\\n+ b\\n= c\\n=\\n" p"d"'],
    ['with line breaks in brackets', '\\[\na \\\\[2pt]\nb\n\\]', 'formula"\\na \\\\\\\\[2pt]\\nb\\n"'],
    ['with an escaped dollar', '$$\n\\$$ a\n$$', 'formula"\\n\\\\$$ a\\n"'],
    ['in an item', '- a\n  $$\n  b\n  $$\n- c', 'ul(li(p"a" formula"\\nb\\n") li(p"c"))'],
    ['that begins an item', '1. $$\n   b\n   $$', 'ol1(li(formula"\\nb\\n"))'],
    ['after a list, without its indentation', '- a\n$$\nb\n$$', 'ul(li(p"a")) formula"\\nb\\n"'],
    ['in a quote', '> $$\n> b\n> $$\nc', 'quote(formula"\\nb\\n") p"c"'],
  ])('finds formulas %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test.each([
    ['that does not end', '$$ a\n- b', 'p"$$ a" ul(li(p"b"))'],
    ['with a blank line', '$$\na\n\n# b\n$$', 'p"$$\\na" h1"b" p"$$"'],
    ['around a code block', '$$\n```\n$$\n```', 'p"$$" code"$$\\n"'],
    ['that leaves its item', '- $$\na\n$$', 'ul(li(p"$$\\na\\n$$"))'],
    ['that leaves its quote', '> $$\na\n$$', 'quote(p"$$\\na\\n$$")'],
    ['with text after it', '$$ a $$ b\n$$\nc\n$$ d', 'p"$$ a $$ b\\n$$\\nc\\n$$ d"'],
    ['without content', '$$\n$$\n\n$$$$\n\n\\[ \\]', 'p"$$\\n$$" p"$$$$" p"\\\\[ \\\\]"'],
    ['in a code block', '```\n$$\na\n$$\n```', 'code"$$\\na\\n$$\\n"'],
    ['by three marks', '$$$\na\n$$$', 'p"$$$\\na\\n$$$"'],
  ])('takes no formula %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test.each([
    ['alerts', '> [!NOTE]\n> a\n>\n> - b\n\n> [!warning]  \n> c', 'note(p"a" ul(li(p"b"))) warning(p"c")'],
    ['an alert without text', '> [!TIP]', 'tip()'],
    [
      'quotes that are no alerts',
      '> [!NOTE] a\n\n> [!OTHER]\n\n> b\n> [!NOTE]',
      'quote(p"[!NOTE] a") quote(p"[!OTHER]") quote(p"b\\n[!NOTE]")',
    ],
    ['no alert without a quote', '[!NOTE]\na', 'p"[!NOTE]\\na"'],
    [
      'details',
      '<details>\n<summary>a *b*</summary>\n\n- c\n\n```\n</details>\n```\n</details>\nd',
      'details"a *b*"(ul(li(p"c")) code"</details>\\n") p"d"',
    ],
    ['details that are open', '<details open><summary>a</summary>\nb\n</DETAILS>', 'details+"a"(p"b")'],
    ['details on a line', '<details><summary>a</summary>b</details>\nc', 'details"a"(p"b") p"c"'],
    ['empty details', '<details></details>\n<details>\n</details>', 'details""() details""()'],
    ['details in details', '<details>\n<details>\na\n</details>\nb\n</details>', 'details""(details""(p"a") p"b")'],
    ['details in an item', '- <details>\n  a\n  </details>\n- b', 'ul(li(details""(p"a")) li(p"b"))'],
    ['a list in details', '<details>\n\n1. a\n2. b\n</details>', 'details""(ol1(li(p"a") li(p"b")))'],
    ['details that never end, open', '<details>\n<summary>a</summary>\nb', 'details+"a"(p"b")'],
    [
      'details with attributes, as text',
      '<details onclick="a()">\nb\n</details>',
      'html"<details onclick=\\"a()\\">\\nb\\n</details>\\n"',
    ],
    [
      'a second summary, as text',
      '<details>\n<summary>a</summary>\n<summary>b</summary>\n</details>',
      'details"a"(html"<summary>b</summary>\\n")',
    ],
    ['an end without details, as text', 'a\n\n</details>', 'p"a" html"</details>\\n"'],
    ['footnotes', 'a\n\n[^1]: b\n[^c]:\n    d\n\n    - e\n\nf', 'p"a" note:1(p"b") note:c(p"d" ul(li(p"e"))) p"f"'],
    ['a footnote that goes on', '[^1]: a\nb\n\nc', 'note:1(p"a\\nb") p"c"'],
    ['no footnote without a label', '[^]: a\n[^b c]: d\n[^e]', 'p"[^]: a\\n[^b c]: d\\n[^e]"'],
  ])('finds %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test('takes a formula of too many characters for other blocks', () => {
    const line = `- ${'b'.repeat(98)}\n`
    expect(read(`$$\n${line.repeat(39)}$$`)).toStartWith('formula')
    expect(read(`$$\n${line.repeat(41)}$$`)).toMatch(/^p"\$\$" ul\(.*\\n\$\$"\)\)$/)
  })

  test('takes the first definition of a label, in any case', () => {
    const { definitions } = textReader().read('[A  b]: http://one\n[a B]: http://two\n\n> [c]: <http://x y>\n', false)
    expect([...definitions]).toEqual([
      ['c', 'http://x y'],
      ['a b', 'http://one'],
    ])
  })

  test('has no definitions while the text grows, so that nothing above changes', () => {
    expect(textReader().read('[a]: http://one\n\nb', true).definitions.size).toBe(0)
  })

  test('takes marks that are nested too deeply for text', () => {
    expect(read('>'.repeat(10_000)).match(/quote/g)).toHaveLength(23)
    expect(read('- '.repeat(10_000)).length).toBeLessThan(25_000)
  })

  test('takes a table of very many columns for text', () => {
    expect(read(`${'|a'.repeat(200)}|\n${'|-'.repeat(200)}|`)).toStartWith('p')
  })
})

describe('reading a text that grows', () => {
  test.each([
    ['code that is not closed is open', '```js\na', 'code:js"a\\n"…'],
    ['code that is closed is not', '```js\na\n```\n', 'code:js"a\\n"'],
    ['a line that may become an underline waits', 'a\n-', 'p"a"'],
    ['a fence that is being written waits', 'a\n``', 'p"a"'],
    ['a formula that does not end yet is its source', 'a\n$$\n- b', 'p"a" formula"$$\\n- b…"'],
    ['details are as they will be', '<details>\n<summary>a</summary>\nb', 'details"a"(p"b")'],
    ['a tag that is being written waits', 'a\n<deta', 'p"a"'],
    ['a kind of alert waits', 'a\n\n> [!WARN', 'p"a"'],
    ['a mark of a formula waits', 'a\n$$', 'p"a"'],
    ['a mark of a formula waits', 'a\n\\[', 'p"a"'],
    ['an item without text waits', '- a\n- [', 'ul(li(p"a"))'],
    ['a mark that has become text is shown', 'a\n-b', 'p"a\\n-b"'],
  ])('%s', (_name, text, expected) => {
    expect(read(text, true)).toBe(expected)
  })

  test('ends with the same result as parsing at once', () => {
    fc.assert(
      fc.property(markdownText, fc.array(fc.nat(400), { maxLength: 12 }), (text, cuts) => {
        const reader = textReader()
        for (const cut of cuts.toSorted((one, other) => one - other)) reader.read(text.slice(0, cut), true)
        expect(reader.read(text, false)).toEqual(textReader().read(text, false))
      }),
      { numRuns: 500 },
    )
  })

  test('shows the same at any time, however the text arrived', () => {
    fc.assert(
      fc.property(markdownText, fc.nat(400), fc.nat(400), (text, one, other) => {
        const reader = textReader(),
          [early, late] = [Math.min(one, other), Math.max(one, other)]
        reader.read(text.slice(0, early), true)
        expect(reader.read(text.slice(0, late), true)).toEqual(textReader().read(text.slice(0, late), true))
      }),
      { numRuns: 500 },
    )
  })

  test('keeps complete blocks as the same objects', () => {
    const reader = textReader()
    const before = reader.read('# a\n\nb\n\n- c\n- d\n- e', true),
      after = reader.read('# a\n\nb\n\n- c\n- d\n- e and more\n\nf', true)
    expect(after.blocks.groups[0]?.[0]).toBe(before.blocks.groups[0]?.[0])
    expect(after.blocks.groups[0]?.[1]).toBe(before.blocks.groups[0]?.[1])
    const [listBefore, listAfter] = [before.blocks.groups[0]?.[2], after.blocks.groups[0]?.[2]]
    if (listBefore?.kind !== 'list' || listAfter?.kind !== 'list') throw new Error('Both are lists.')
    expect(listAfter.items.groups[0]?.[0]).toBe(listBefore.items.groups[0]?.[0])
    expect(listAfter.items.groups[0]?.[2]).not.toBe(listBefore.items.groups[0]?.[2])
  })

  test('keeps full groups of a long list, table and block of code as the same objects', () => {
    for (const line of ['- item\n', '> - item\n', '|a|\n']) {
      const reader = textReader(),
        text = `${line.startsWith('|') ? '|h|\n|-|\n' : ''}${line.repeat(200)}`
      const groups = (grown: string) =>
        JSON.stringify(reader.read(grown, true)) && innerGroups(reader.read(grown, true).blocks)
      const before = groups(text),
        after = groups(text + line)
      expect(after.length).toBeGreaterThan(6)
      for (let index = 0; index < before.length - 1; index += 1) expect(after[index]).toBe(before[index])
    }
    const reader = textReader(),
      code = `\`\`\`\n${'a line of code\n'.repeat(1_000)}`
    const chunksOf = (grown: string) => {
      const block = reader.read(grown, true).blocks.groups[0]?.[0]
      return block?.kind === 'code' ? block.chunks : []
    }
    const before = chunksOf(code),
      after = chunksOf(`${code}more\n`)
    expect(before.length).toBeGreaterThan(5)
    for (let index = 0; index < before.length - 1; index += 1) expect(after[index]).toBe(before[index] ?? '')
  })

  // 100,000 characters in 1,000 steps take some 0.2 s; parsing all again at each step takes more than 5 s.
  test.each([
    '- item and more\n',
    '> a quote\n',
    'a paragraph\n\n',
    'a line of a paragraph\n',
    '|a|b|\n|-|-|\n',
    '    code\n',
    'word ',
    '`',
  ])('takes constant time per step: %p', (part) => {
    const text = part.repeat(100_000 / part.length),
      reader = textReader()
    const readAll = () => {
      for (let length = 100; length <= text.length; length += 100) reader.read(text.slice(0, length), true)
    }
    expect(processorMs(readAll)).toBeLessThan(2_000)
  })

  test('starts again for another text', () => {
    const reader = textReader()
    reader.read('# a\n\nb', true)
    expect(outline(reader.read('c', true).blocks)).toBe('p"c"')
  })

  test('cuts a line of code that never ends, and loses nothing of it', () => {
    const line = '😀x'.repeat(20_000)
    const block = textReader().read(`\`\`\`\n${line}`, false).blocks.groups[0]?.[0]
    if (block?.kind !== 'code') throw new Error('It is code.')
    expect(block.chunks.join('')).toBe(`${line}\n`)
    expect(Math.max(...block.chunks.map((chunk) => chunk.length))).toBeLessThan(20_000)
    expect(block.chunks.every((chunk) => chunk.isWellFormed())).toBe(true)
  })
})

/** Groups of the first list or table, at any depth. */
function innerGroups(blocks: Sequence<Block>): readonly unknown[] {
  const block = blocks.groups[0]?.[0]
  switch (block?.kind) {
    case 'quote':
      return innerGroups(block.children)
    case 'list':
      return block.items.groups
    case 'table':
      return block.rows.groups
    default:
      return []
  }
}

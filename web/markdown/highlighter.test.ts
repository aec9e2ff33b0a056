import { describe, expect, test } from 'bun:test'
import { colourPart } from './colour-code.ts'
import { highlighterFor, type Highlighted } from './highlighter.ts'
import { languages } from './languages.ts'

/** Pieces of code that have something to colour in each language. */
const samples: Readonly<Record<string, string>> = {
  bash: 'if [ "$a" ]; then echo b; fi # c',
  cpp: '#include <a>\nint main() { return 0; } // b',
  csharp: 'public class A { string b = "c"; }',
  css: '.a { color: #fff }',
  diff: '- a\n+ b',
  go: 'func main() { var a = "b" }',
  ini: '[a]\nb = 1',
  java: 'public class A { int b = 1; }',
  javascript: 'const a = `b ${c}`',
  json: '{"a": 1, "b": null}',
  kotlin: 'fun main() { val a = "b" }',
  markdown: '# a\n**b**',
  php: '<?php echo "a";',
  python: 'def a(b):\n    return None',
  ruby: 'def a; "b"; end',
  rust: 'fn main() { let a = 1; }',
  sql: 'SELECT a FROM b WHERE c = 1',
  swift: 'func a() -> Int { return 1 }',
  typescript: 'type A = { b: string }',
  xml: '<a b="c">d</a>',
  yaml: 'a: 1\nb: "c"',
}

async function highlight(code: string, language: string): Promise<Highlighted> {
  return (await highlighterFor(language))(code)
}

describe('colours of code', () => {
  test.each([...languages])('%s is coloured, and no character is lost', async (name, grammar) => {
    const code = samples[grammar] ?? '',
      { runs } = await highlight(code, name)
    expect(runs.map(({ text }) => text).join('')).toBe(code)
    expect(runs.filter(({ colour }) => colour !== undefined).length).toBeGreaterThan(0)
  })

  test('are those of what stands there', async () => {
    expect((await highlight('const a = "b" // c', 'ts')).runs).toEqual([
      { text: 'const', colour: 'code-keyword' },
      { text: ' a = ', colour: undefined },
      { text: '"b"', colour: 'code-string' },
      { text: ' ', colour: undefined },
      { text: '// c', colour: 'code-comment' },
    ])
  })

  test('are none within what a string takes in', async () => {
    expect((await highlight('`a ${b} c`', 'js')).runs.map(({ text, colour }) => [text, colour])).toEqual([
      ['`a ', 'code-string'],
      ['${b}', undefined],
      [' c`', 'code-string'],
    ])
  })

  test('reach into another language', async () => {
    expect((await highlight('<script>let a = 1</script>', 'html')).runs).toContainEqual({
      text: 'let',
      colour: 'code-keyword',
    })
  })

  test('are none for a language that is not known', async () => {
    expect(await highlight('let a', 'none')).toEqual({
      runs: [{ text: 'let a', colour: undefined }],
      isIncomplete: false,
    })
  })
})

describe('a part of a block of code', async () => {
  const highlight = await highlighterFor('js')
  const line = 'const value = 1 // and some more\n',
    chunk = line.repeat(60)

  test('is some chunks, not all of them', () => {
    const part = colourPart(
      highlight,
      Array.from({ length: 20 }, () => chunk),
      4,
    )
    expect(part.end).toBe(7)
    expect(part.text).toBe(chunk.repeat(3))
  })

  test('goes on while the code is within a comment', () => {
    const chunks = [chunk, `${chunk}/* a\n`, chunk, chunk, chunk, `b */\n${chunk}`, chunk, chunk, chunk, chunk, chunk]
    const part = colourPart(highlight, chunks, 0)
    expect(part.end).toBeGreaterThanOrEqual(6)
    expect(part.end).toBeLessThan(chunks.length)
    expect(part.runs.at(-1)?.text).not.toBe('b */\n')
  })

  test('does not go on without end', () => {
    const part = colourPart(highlight, [`/* a\n${chunk}`, ...Array.from({ length: 60 }, () => chunk)], 0)
    expect(part.text.length).toBeLessThan(30_000)
  })

  test('is what is left at the end', () => {
    expect(colourPart(highlight, [chunk, 'let a\n'], 1)).toMatchObject({ end: 2, text: 'let a\n' })
  })
})

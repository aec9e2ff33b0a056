import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { inlineTexts, languages, sourceOf, textsOf } from '../../scripts/inline-texts.ts'
import { plural } from './locale.ts'

const root = join(import.meta.dir, '..', '..')
const files = [
  ...new Bun.Glob('web/**/*.{ts,tsx}').scanSync(root),
  ...new Bun.Glob('src/extensions/*/page-part.tsx').scanSync(root),
].filter((file) => !/\.test\.tsx?$|testing\.ts$|node_modules|web\/texts\//.test(file))
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const extensions = [...new Bun.Glob('src/extensions/*/texts/en.ts').scanSync(root)].map((file) =>
  file.replace('/texts/en.ts', ''),
)

type Leaf = string | ((...values: readonly unknown[]) => string)

/** All texts by their names, such as `chat.send`. */
function leavesOf(texts: unknown, name = ''): ReadonlyMap<string, Leaf> {
  if (typeof texts === 'string' || typeof texts === 'function') return new Map([[name, texts as Leaf]])
  return new Map(
    Object.entries(texts as object).flatMap(([each, value]) => [
      ...leavesOf(value, name === '' ? each : `${name}.${each}`),
    ]),
  )
}

/** A text with values in place of its parameters that are found again in any format of numbers. */
function said(leaf: Leaf, first = 1_001): string {
  if (typeof leaf === 'string') return leaf
  return leaf(...Array.from({ length: leaf.length }, (_, index) => first + index)).replace(
    /(\d)[.,\s\u00a0\u202f](?=\d{3})/gu,
    '$1',
  )
}

/** The values and the marks of a text, such as `{model}`, in order of the alphabet. */
function placeholders(text: string): readonly string[] {
  return [...new Set(text.match(/\{\w+\}|\b1\d{3}\b/g))].toSorted()
}

/** Texts that are the same in English and in German. */
const sameWords = new Set(
  (
    'API Chat Code Name Status Token Tokens Tokens/s Limits Enter Esc Filter Format Budget Details Live Top-P ' +
    'CSV UTC Teams in Minute Text Person Team Test ' +
    'Deutsch English OK MB Browser System'
  ).split(' '),
)

/** Words of English sentences that no German one has. */
const english = /\b(?:the|of|and|with|is|are|this|that|to|not|for|you|your|its?|has|have|by|or|no|on)\b/i

describe.each([['web', 'web'], ...extensions.map((folder) => [folder, folder])])('the texts of %s', (_, folder) => {
  describe.each(languages.filter((language) => language !== 'en').map((language) => [language]))(
    'in %s',
    (language) => {
      const texts = async () => ({
        en: leavesOf(await textsOf(join(root, folder), 'en')),
        other: leavesOf(await textsOf(join(root, folder), language)),
      })
      /** Words for codes: English has them only where it says something else than the code. */
      const isFree = (name: string): boolean => name.startsWith('classes.')

      test('are the same as in English, with the same parameters and marks', async () => {
        const { en, other } = await texts()
        expect([...other.keys()].filter((name) => !isFree(name)).toSorted()).toEqual(
          [...en.keys()].filter((name) => !isFree(name)).toSorted(),
        )
        const differing = [...en].filter(([name, leaf]) => {
          const there = other.get(name) ?? ''
          return (
            placeholders(said(leaf)).join() !== placeholders(said(there)).join() ||
            said(leaf, 1) === '' ||
            said(there, 1) === '' ||
            /undefined|NaN|\[object/.test(said(there, 1))
          )
        })
        expect(differing.map(([name]) => name)).toEqual([])
      })

      test('are no English', async () => {
        const { en, other } = await texts()
        const left = [...other].filter(([name, leaf]) => {
          const text = said(leaf)
          const words = text.replace(/\{\w+\}|\d+|[^\p{L}/.-]+/gu, ' ').trim()
          return words !== '' && !sameWords.has(words) && (text === said(en.get(name) ?? '') || english.test(text))
        })
        expect(left.map(([name, leaf]) => [name, said(leaf)])).toEqual([])
      })

      test('use nothing but their parameters and `plural`, since the build copies them', async () => {
        for (const all of Object.values(await texts()))
          for (const [name, leaf] of all) {
            // oxlint-disable-next-line typescript/no-implied-eval
            const copied = new Function('plural', `return ${sourceOf(leaf)}`)(plural) as Leaf
            expect([name, said(copied)]).toEqual([name, said(leaf)])
          }
      })

      test('say the same where the build writes them in place of a call', async () => {
        for (const language of languages) {
          const all = await textsOf(join(root, folder), language)
          for (const [name, leaf] of leavesOf(all)) {
            if (typeof leaf === 'string') continue
            const names = Array.from({ length: leaf.length }, (_, index) => `value${index}`)
            const call = inlineTexts(`say.${name}(${names.join(', ')})`, all, name).replace(/^import .*\n/, '')
            // oxlint-disable-next-line typescript/no-implied-eval
            const written = new Function('plural', `return (${names.join(', ')}) => ${call}`)(plural) as Leaf
            expect([name, said(written)]).toEqual([name, said(leaf)])
          }
        }
      })
    },
  )

  test('are all used, and those that are used exist', async () => {
    const texts = await textsOf(join(root, folder), 'en')
    const used = new Set<string>()
    for (const [file, source] of sources) {
      if (file.startsWith('web/') !== (folder === 'web') || (folder !== 'web' && !file.startsWith(folder))) continue
      inlineTexts(source, texts, file)
      for (const [, name = ''] of source.matchAll(/(?<!\/|\w|(?<!\.\.)\.)say\.((?:\w+\.?)+)/g))
        used.add(name.replace(/\.$/, ''))
    }
    for (const name of ['page.description', 'page.noScript']) used.add(name)
    const isUsed = (name: string): boolean =>
      name.split('.').some((_, index, parts) => used.has(parts.slice(0, index + 1).join('.')))
    expect([...leavesOf(texts).keys()].filter((name) => !isUsed(name))).toEqual([])
  })
})

describe('a file of the page', () => {
  /** Files with names of keys, languages, makers, grammars and formats. */
  const formats = new RegExp(
    [
      '^web/(?:chat/curl-of|app/shortcuts(?:-sheet)?|',
      'history/(?:plain-formulas|save-html)|images/[\\w-]*header|models/model-makers|ui/icon|',
      'markdown/(?:entities|languages|math-elements|run-emitter|code-file-name|continue-frames|html-rules|open-frames|',
      'read-line))\\.tsx?$',
    ].join(''),
  )
  /**
   * Names of languages, of kinds in the browser, of brands and models, selectors, paths, and errors that no person
   * sees.
   */
  const exempt = new Set([
    ...['English', 'Deutsch', 'Files', 'Enter', 'Tab', 'OpenAI', 'Anthropic', 'Gemini', 'input, select'],
    ...['each person', 'each key'],
    ...['https://api.example.com/v1', 'gpt-5*, claude-haiku-4-5', 'requests.csv', 'CSV', 'text'],
    ...['there are no services here', 'there is no canvas', 'No inline element is open', 'No block is open'],
  ])

  test('has no text of its own', () => {
    const found = [...sources].flatMap(([file, source]) =>
      formats.test(file) ? [] : ownTexts(file, source).map((text) => `${file}: ${text}`),
    )
    expect(found.filter((text) => !exempt.has(text.split(': ')[1] ?? ''))).toEqual([])
  })

  test('uses `say` only as say.room.name, which the build replaces', () => {
    const other = [...sources].filter(([file, source]) => {
      let isOther = false
      walk(parseSync(file, source).program, (node, parent) => {
        if (node['type'] === 'Identifier' && node['name'] === 'say')
          isOther ||=
            !['MemberExpression', 'ImportSpecifier'].includes(String(parent?.['type'])) || parent?.['computed'] === true
      })
      return isOther
    })
    expect(other.map(([file]) => file)).toEqual([])
  })
})

type Node = Readonly<Record<string, unknown>>

function walk(value: unknown, visit: (node: Node, parent: Node | undefined) => boolean | void, parent?: Node): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit, parent)
  else if (typeof value === 'object' && value !== null && 'type' in value) {
    const node = value as Node
    if (visit(node, parent) === false) return
    for (const [name, child] of Object.entries(node)) if (name !== 'parent') walk(child, visit, node)
  }
}

const hasLetters = /\p{L}/u
/** Attributes whose values are read by people. */
const shownAttributes = new RegExp(
  '^(?:label|title|alt|placeholder|hint|about|summary|explanation|caption|more|name|text|' +
    'aria-(?:label|valuetext|description|roledescription))$',
)

/** Texts in a file that a person would read: text between elements, in attributes, and literals with words. */
function ownTexts(file: string, source: string): readonly string[] {
  const found: string[] = []
  walk(parseSync(file, source).program, (node, parent) => {
    const { type, value } = node
    if (typeof type !== 'string' || /^TS(?!As|Satisfies|NonNull)|^Import(?!Expression)/.test(type)) return false
    // Messages for developers.
    if (type === 'CallExpression' && ((node['callee'] as Node)['object'] as Node | undefined)?.['name'] === 'console')
      return false
    // Code is in no language.
    if (type === 'JSXElement' && ((node['openingElement'] as Node)['name'] as Node)['name'] === 'code') return false
    // Names of icons.
    if (type === 'JSXOpeningElement' && (node['name'] as Node)['name'] === 'Icon') return false
    if (type === 'JSXExpressionContainer' && /^JSX(?:Element|Fragment)$/.test(String(parent?.['type'])))
      found.push(...shownWords(node['expression'] as Node))
    if (type === 'JSXText' && hasLetters.test(String(value))) found.push(String(value).trim())
    if (type === 'JSXAttribute') {
      const name = String((node['name'] as Node)['name'])
      const literal = value as Node | null
      if (/^(?:className|d|rel|sandbox|allow|autoComplete|accept|viewBox|aria-keyshortcuts)$/.test(name)) return false
      if (literal?.['type'] === 'Literal') {
        if (shownAttributes.test(name) && hasLetters.test(String(literal['value'])))
          found.push(String(literal['value']))
        return false
      }
    }
    const text =
      type === 'Literal' && typeof value === 'string'
        ? value
        : type === 'TemplateElement'
          ? String((value as Node)['cooked'])
          : undefined
    if (text === undefined || !isSentence(text)) return true
    const isCompared =
      parent?.['type'] === 'SwitchCase' ||
      (parent?.['type'] === 'BinaryExpression' && /==/.test(String(parent['operator'])))
    if (!isCompared && parent?.['type'] !== 'PropertyDefinition') found.push(text)
    return true
  })
  return found
}

/** Words in an expression between elements, such as `{isOn ? 'on' : 'off'}`. */
function shownWords(expression: Node): readonly string[] {
  const { type, value } = expression
  if (type === 'Literal')
    return typeof value === 'string' && hasLetters.test(value) && !isSentence(value) ? [value] : []
  const parts = ['consequent', 'alternate', 'right', ...(type === 'LogicalExpression' ? ['left'] : [])]
  return type === 'ConditionalExpression' || type === 'LogicalExpression'
    ? parts.flatMap((part) => (expression[part] === undefined ? [] : shownWords(expression[part] as Node)))
    : []
}

/** Words of a sentence or a label, and no classes of CSS. */
function isSentence(text: string): boolean {
  if (/^\p{Lu}\p{Ll}+(?:…|\.)?$/u.test(text)) return true
  if (!/\p{L}{2,}[,.:;]? \p{L}/u.test(text)) return false
  if (/^\([\w-]+: \w+\)$/.test(text)) return false
  return (
    /^[\p{Lu}“(,.]/u.test(text) ||
    text
      .trim()
      .split(' ')
      .every((word) => /^\p{L}+[,.:;…]?$/u.test(word))
  )
}

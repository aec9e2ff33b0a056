import type { LanguageFn } from 'highlight.js'
import core from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { languages } from './languages.ts'
import { RunEmitter, type ColouredRun } from './run-emitter.ts'

// Loaded when the first code block is complete.
export type { ColouredRun } from './run-emitter.ts'

/** Coloured code. */
export interface Highlighted {
  readonly runs: readonly ColouredRun[]
  /** The code ends within a construct that it opened, such as a comment. */
  readonly isIncomplete: boolean
}

/** Colours code of one language. */
export type Highlighter = (code: string) => Highlighted

const highlighter = core.newInstance()
highlighter.configure({ __emitter: RunEmitter })
const grammars = {
  bash,
  cpp,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}
for (const [name, grammar] of Object.entries(grammars)) highlighter.registerLanguage(name, grammar)

/** Rare or large grammars, loaded when a block needs them. */
const others: ReadonlyMap<string, () => Promise<{ readonly default: LanguageFn }>> = new Map([
  ['csharp', () => import('highlight.js/lib/languages/csharp')],
  ['css', () => import('highlight.js/lib/languages/css')],
  ['kotlin', () => import('highlight.js/lib/languages/kotlin')],
  ['php', () => import('highlight.js/lib/languages/php')],
  ['ruby', () => import('highlight.js/lib/languages/ruby')],
  ['swift', () => import('highlight.js/lib/languages/swift')],
])

/**
 * Returns the highlighter of a language, after loading its grammar. Unknown languages have no colours.
 *
 * @param language name after the fence
 */
export async function highlighterFor(language: string): Promise<Highlighter> {
  const grammar = languages.get(language)
  // HTML contains CSS.
  const other = grammar === 'xml' ? 'css' : (grammar ?? ''),
    load = others.get(other)
  if (load !== undefined && highlighter.getLanguage(other) === undefined)
    highlighter.registerLanguage(other, (await load()).default)
  return (code) => (grammar === undefined ? plain(code) : highlight(code, grammar))
}

function highlight(code: string, grammar: string): Highlighted {
  const result = highlighter.highlight(code, { language: grammar, ignoreIllegals: true })
  if (result.errorRaised !== undefined || !(result._emitter instanceof RunEmitter)) return plain(code)
  return { runs: result._emitter.runs, isIncomplete: result._top !== undefined && 'parent' in result._top }
}

function plain(code: string): Highlighted {
  return { runs: [{ text: code, colour: undefined }], isIncomplete: false }
}

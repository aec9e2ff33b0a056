import core from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import markdown from 'highlight.js/lib/languages/markdown'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { languages } from './languages.ts'
import { RunEmitter, type Run } from './run-emitter.ts'

// This module is loaded when the first block of code is complete, never before.
export type { Run } from './run-emitter.ts'

/** Code in colours. `isInMiddle`: its end is within something, such as a comment, that began in it. */
export type Highlighter = (code: string, language: string) => { readonly runs: readonly Run[]; readonly isInMiddle: boolean }

const highlighter = core.newInstance()
highlighter.configure({ __emitter: RunEmitter })
const grammars = { bash, cpp, csharp, css, diff, go, ini, java, javascript, json, kotlin, markdown, php, python, ruby, rust, sql, swift, typescript, xml, yaml }
for (const [name, grammar] of Object.entries(grammars)) highlighter.registerLanguage(name, grammar)

/** Colours code. A language that is not known has none. @param language as after a fence */
export const highlight: Highlighter = (code, language) => {
  const grammar = languages.get(language)
  if (grammar === undefined) return plain(code)
  const result = highlighter.highlight(code, { language: grammar, ignoreIllegals: true })
  if (result.errorRaised !== undefined || !(result._emitter instanceof RunEmitter)) return plain(code)
  return { runs: result._emitter.runs, isInMiddle: result._top !== undefined && 'parent' in result._top }
}

function plain(code: string): ReturnType<Highlighter> {
  return { runs: [{ text: code, colour: undefined }], isInMiddle: false }
}

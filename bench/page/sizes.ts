import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Language } from '../../scripts/inline-texts.ts'

/** Downloads of a browser, bytes with gzip. */
export interface Sizes {
  /** Scripts before the first paint. */
  readonly beforeFirstPaint: number
  /** Scripts of the chat page with the list of conversations and an answer. */
  readonly chatPage: number
  /** Scripts of the largest part that is loaded when it is opened: a view, the settings, the list of models. */
  readonly panel: number
  /** The highlighter and the tools of code, loaded with the first block of code. */
  readonly highlighter: number
  /** The library of formulas, loaded with the first formula. */
  readonly formulas: number
  readonly style: number
}

/** Limits of {@link Sizes}, in every language. */
export const sizeLimits: Sizes = {
  beforeFirstPaint: 90_000,
  chatPage: 140_000,
  panel: 25_000,
  highlighter: 40_000,
  formulas: 65_000,
  style: 13_000,
}

/** Measures the built page in a language. @param folder `dist/web` */
export function measureSizes(folder: string, language: Language): Sizes {
  const text = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const bytes = (name: string): number => statSync(join(folder, `${name}.gz`)).size
  const sum = (names: Iterable<string>): number => [...names].reduce((total, name) => total + bytes(name), 0)
  const imported = (name: string, pattern: RegExp): readonly string[] =>
    [...text(name).matchAll(pattern)].map(([, found = '']) => found)
  const statics = /(?:from|import)\s*"\.\/([^"]+\.js)"/g
  const dynamics = /import\("\.\/([^"]+\.js)"\)/g

  function closure(entries: readonly string[], found = new Set<string>()): ReadonlySet<string> {
    for (const name of entries) {
      if (found.has(name)) continue
      found.add(name)
      closure(imported(name, statics), found)
    }
    return found
  }

  const index = text(`index-${language}.html`)
  const entries = [...index.matchAll(/<script[^>]* src="\/assets\/([^"]+)"/g)].map(([, name = '']) => name)
  const style = /href="\/assets\/([^"]+\.css)"/.exec(index)?.[1] ?? ''
  const first = closure(entries)
  const views = [...first].flatMap((name) => imported(name, dynamics))
  // The page preloads the history and the chat. Other chunks are recognized by strings, which minification keeps.
  const preloaded = [...index.matchAll(/rel="modulepreload" href="\/assets\/([^"]+)"/g)].map(([, name = '']) => name)
  const chat = closure(preloaded, new Set(first))
  const opened = [...views, ...[...chat].filter((name) => !first.has(name)).flatMap((name) => imported(name, dynamics))]
  const later = closure(opened, new Set(chat)).difference(chat)
  const highlighter = [...later].filter((name) => /hljs|Download code|Programmcode herunterladen/.test(text(name))),
    formulas = [...later].filter((name) => text(name).includes('munderover'))
  const others = [...later].filter((name) => !highlighter.includes(name) && !formulas.includes(name))
  /** Bytes of a part with what it imports. */
  const partBytes = (name: string): number => sum(closure([name], new Set(chat)).difference(chat))
  return {
    beforeFirstPaint: sum(first),
    chatPage: sum(chat),
    panel: Math.max(...others.map(partBytes)),
    highlighter: sum(highlighter),
    formulas: sum(formulas),
    style: bytes(style),
  }
}

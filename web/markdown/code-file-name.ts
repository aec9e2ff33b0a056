import { languages } from './languages.ts'

/** Languages whose name is the ending of their files, beside the names of grammars. */
const endings = new Set(
  (
    'c h hpp cc cxx jsx mjs cjs tsx mts cts scss less toml conf properties env html xhtml svg vue svelte rss jsonc ' +
    'json5 jsonl ndjson patch zsh mdx kts gemspec csv tsv txt tex lua pl r jl hs ex erl clj scala dart zig nim tf ' +
    'proto graphql'
  ).split(' '),
)
const endingsOfGrammars: Readonly<Record<string, string>> = {
  bash: 'sh',
  csharp: 'cs',
  javascript: 'js',
  kotlin: 'kt',
  markdown: 'md',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  typescript: 'ts',
  yaml: 'yml',
}

/**
 * Returns the name of a file with a block of code: the name in the info string, as in `ts main.ts` or
 * `title="main.ts"`, else `code` with the ending of the language.
 */
export function codeFileName(info: string, language: string): string {
  const named = /(?:^|[\s"'/=:])([\p{L}\p{N}_][\p{L}\p{N}_.-]{0,60}\.[a-z0-9]{1,8})["']?$/iu.exec(info)?.[1]
  if (named !== undefined) return named
  const grammar = languages.get(language) ?? ''
  return `code.${endings.has(language) ? language : (endingsOfGrammars[grammar] ?? grammar) || 'txt'}`
}

/** Grammars by language name and alias. Kept apart from the highlighter, so an unknown language loads nothing. */
export const languages: ReadonlyMap<string, string> = new Map([
  ...names('bash', 'sh shell zsh console shell-session shellsession'),
  ...names('cpp', 'c c++ cc h hpp cxx arduino'),
  ...names('csharp', 'cs c# dotnet'),
  ...names('css', 'scss less'),
  ...names('diff', 'patch'),
  ...names('go', 'golang'),
  ...names('ini', 'toml conf properties env dotenv'),
  ...names('java', ''),
  ...names('javascript', 'js jsx mjs cjs node'),
  ...names('json', 'jsonc json5 jsonl ndjson'),
  ...names('kotlin', 'kt kts'),
  ...names('markdown', 'md mdx'),
  ...names('php', ''),
  ...names('python', 'py python3 pycon gyp'),
  ...names('ruby', 'rb gemspec rakefile'),
  ...names('rust', 'rs'),
  ...names('sql', 'postgresql postgres mysql sqlite'),
  ...names('swift', ''),
  ...names('typescript', 'ts tsx mts cts'),
  ...names('xml', 'html xhtml svg vue svelte rss'),
  ...names('yaml', 'yml'),
])

function names(language: string, others: string): [string, string][] {
  return [language, ...others.split(' ')].filter((name) => name !== '').map((name) => [name, language])
}

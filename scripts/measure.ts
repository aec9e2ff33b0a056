import { filesOfOneUser, isTest, linesOf, longFunctions, testFiles, widestImports, wordsOf } from './house-figures.ts'
import { installFigures } from './install-figures.ts'
import { codeFolders, columnsMax, filesOf, longLines, namesExportedTwice, textOf } from './source-figures.ts'

/**
 * `npm run measure` prints figures about the rules of CONTRIBUTING.md, and of two new installs, in some 20 s. `npm run
 * measure -- words [FOLDER]` lists comments that break its plain words, and lines over 120 columns. `-- functions`
 * lists functions above 60 lines, `-- folds` small files with one importer, and `-- touched [NAME]` what one request
 * touches, in some 30 s.
 */

const wordsMax = 45

/** Phrases that break the plain words of CONTRIBUTING.md. */
const idioms: readonly RegExp[] = [
  /\b(?:who|what|which|when|where)ever\b/i,
  /\b(?:no|some|every)body\b/i,
  /\bwhat (?:is|are|was|were|has|have|had|came|comes|it|they|there|this|that|a|an|the)\b/i,
  /\b(?:so|as) (?:many|long|much)\b(?=[^.]*\bas\b)|\bso (?:many|much)\b/i,
  /\b(?:in force|lets? go|is told|are told|was told|hears?|heard|taken over|takes over)\b/i,
  /\b(?:is|are) none\b|\bthat (?:is|are) no\b/i,
  /(?:^|[.:;] )Who\b/,
  /^(?:What|Whether) \{@link/,
]

interface Comment {
  readonly file: string
  readonly line: number
  readonly text: string
}

/** Reads block comments, and runs of line comments as one comment each. */
function commentsOf(file: string): readonly Comment[] {
  const source = textOf(file)
  return [
    ...source.matchAll(/(?<![\w*}/])\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/[^\n]*\n?)+|(?<=[^:'"`])\/\/ [^\n]*/gm),
  ].map((match) => ({
    file,
    line: source.slice(0, match.index).split('\n').length,
    text: match[0]
      .replaceAll(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)[ \t]?|\*\/$/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }))
}

function breaksPlainWords({ text }: Comment): boolean {
  return (
    idioms.some((idiom) => idiom.test(text)) ||
    text.split(/[.:;] |@\w+/).some((sentence) => sentence.split(' ').length > wordsMax)
  )
}

/** Counts the comments that exempt code from a rule of the linter. */
function exceptions(files: readonly string[], rule: string): number {
  const exemption = new RegExp(`^\\s*// oxlint-disable[^\\n]*\\b${rule}\\b`, 'gm')
  return files.reduce((sum, file) => sum + (textOf(file).match(exemption)?.length ?? 0), 0)
}

function source(): readonly string[] {
  return filesOf(['src', 'client'], (file) => !isTest(file))
}

function pageSource(): readonly string[] {
  return filesOf(['web'], (file) => !isTest(file))
}

function printWords(): void {
  const files = filesOf(process.argv.length > 3 ? process.argv.slice(3) : codeFolders)
  for (const comment of files.flatMap(commentsOf).filter(breaksPlainWords))
    console.log(`${comment.file}:${comment.line}: ${comment.text}`)
  for (const place of longLines(files)) console.log(`${place}: over ${columnsMax} columns`)
}

async function printTouched(): Promise<void> {
  const { touchedFiles } = await import('./touched-files.ts')
  for (const { name, files, lines } of await touchedFiles()) {
    console.log(`${name.padEnd(48)} ${files.length} files, ${lines} lines`)
    if (process.argv[3] === name) console.log(files.toSorted().join('\n'))
  }
}

async function printFigures(): Promise<void> {
  const began = performance.now()
  const files = source()
  const rows: readonly (readonly [string, string | number])[] = [
    ['lines of src and client without tests', linesOf(files)],
    ['lines of client without tests', linesOf(filesOf(['client'], (file) => !isTest(file)))],
    ['lines of web without tests', linesOf(pageSource())],
    ['lines of tests', linesOf(testFiles())],
    ['characters of src and client without tests', files.reduce((sum, file) => sum + textOf(file).length, 0)],
    ...codeFolders.map(
      (folder) => [`lines over ${columnsMax} columns in ${folder}`, longLines(filesOf([folder])).length] as const,
    ),
    ...codeFolders.map((folder) => {
      const comments = filesOf([folder]).flatMap(commentsOf)
      const broken = comments.filter(breaksPlainWords).length
      return [
        `comments against plain words in ${folder}`,
        `${broken} of ${comments.length} (${((100 * broken) / Math.max(1, comments.length)).toFixed(1)} %)`,
      ] as const
    }),
    ['files in src/cli without tests', filesOf(['src/cli'], (file) => !isTest(file)).length],
    ['names exported more than once in src', namesExportedTwice(filesOf(['src', 'client'])).join(', ') || 0],
    // Lint refuses these, so each one has a comment that lets it pass.
    ['casts (`as`, not const or satisfies) in src', exceptions(files, 'consistent-type-assertions')],
    ['`any` in src', exceptions(files, 'no-explicit-any')],
    ['functions of them above 60 lines with inner ones', longFunctions(files).length],
    ['functions of web above 60 lines with inner ones', longFunctions(pageSource()).length],
    ['files of them under 60 lines with one importer', filesOfOneUser(files).length],
    ['entries of the widest row of allowed imports', widestImports()],
    ['words in README.md', wordsOf('README.md')],
    ['words in README.md and docs', wordsOf('README.md') + wordsOf('docs/*.md')],
    ['words in docs/decisions', wordsOf('docs/decisions/*.md')],
    ['seconds to measure', ((performance.now() - began) / 1000).toFixed(1)],
  ]
  for (const [name, value] of rows) console.log(`${name.padEnd(48)} ${value}`)
  for (const options of [[], ['--omit=dev']])
    console.log(`${['npm ci', ...options].join(' ').padEnd(48)} ${await installFigures(...options)}`)
}

const lists: Readonly<Record<string, () => void | Promise<void>>> = {
  words: printWords,
  touched: printTouched,
  functions: () => console.log([...longFunctions(source()), ...longFunctions(pageSource())].join('\n')),
  folds: () => console.log(filesOfOneUser(source()).join('\n')),
}
await (lists[process.argv[2] ?? ''] ?? printFigures)()

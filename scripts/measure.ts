import { codeFolders, columnsMax, filesOf, longLines, namesExportedTwice, textOf } from './source-figures.ts'

/**
 * `npm run measure` prints figures about the rules of CONTRIBUTING.md. `npm run measure -- words [FOLDER]` lists
 * comments that break its plain words, and lines over 120 columns.
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

function isTest(file: string): boolean {
  return /\.test\.tsx?$|testing[^/]*$|\/fixtures\//.test(file)
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

if (process.argv[2] === 'words') {
  const files = filesOf(process.argv.length > 3 ? process.argv.slice(3) : codeFolders)
  for (const comment of files.flatMap(commentsOf).filter(breaksPlainWords))
    console.log(`${comment.file}:${comment.line}: ${comment.text}`)
  for (const place of longLines(files)) console.log(`${place}: over ${columnsMax} columns`)
} else {
  const source = filesOf(['src'], (file) => !isTest(file))
  const rows: readonly (readonly [string, string | number])[] = [
    ['lines of src without tests', source.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0)],
    ['characters of src without tests', source.reduce((sum, file) => sum + textOf(file).length, 0)],
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
    ['names exported more than once in src', namesExportedTwice(filesOf(['src'])).join(', ') || 0],
    // Lint refuses these, so each one has a comment that lets it pass.
    ['casts (`as`, not const or satisfies) in src', exceptions(source, 'consistent-type-assertions')],
    ['`any` in src', exceptions(source, 'no-explicit-any')],
  ]
  for (const [name, value] of rows) console.log(`${name.padEnd(48)} ${value}`)
}

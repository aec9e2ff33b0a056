import { say } from '../texts/say.ts'

/** Maximum length of a piece in characters. Some browsers go silent in longer ones. */
const pieceLengthMax = 200

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' })

/** Returns a Markdown text as pieces to be spoken: sentences without syntax, addresses and code. */
export function spokenPieces(markdown: string): readonly string[] {
  return withoutSyntax(markdown)
    .split(/\n+/)
    .flatMap((line) => Array.from(sentences.segment(line.trim()), ({ segment }) => segment.trim()))
    .flatMap(shortPieces)
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece))
}

/** Each step removes one kind of syntax. Lines are read one by one, so no pattern spans more than a block of code. */
function withoutSyntax(markdown: string): string {
  return withoutCode(markdown)
    .split('\n')
    .map((line) =>
      line
        .replace(/^[ \t]{0,12}(?:>[ \t]?){1,8}/, '')
        .replace(/^[ \t]{0,40}(?:#{1,6}|[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/, '')
        .replace(/^[ \t|:-]+$/, '')
        .replace(/!?\[([^[\]\n]{0,500})\]\([^()\s]{0,2000}(?: "[^"\n]{0,500}")?\)/g, '$1')
        .replace(/https?:\/\/([^\s/?#]{1,255})\S{0,2000}/g, '$1')
        .replace(/`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)/g, '')
        .replace(/[ \t]*\|[ \t]*/g, ', ')
        .replace(/^, |, $/g, ''),
    )
    .join('\n')
}

/** Replaces blocks of code by a word, so that a listener knows of them. */
function withoutCode(markdown: string): string {
  let fence = ''
  return markdown
    .split('\n')
    .flatMap((line) => {
      const mark = /^[ \t]{0,12}(`{3,20}|~{3,20})/.exec(line)?.[1] ?? ''
      if (fence === '' && mark !== '') {
        fence = mark
        return [say.voice.code]
      }
      if (fence === '') return [line]
      if (mark.startsWith(fence)) fence = ''
      return []
    })
    .join('\n')
}

function shortPieces(sentence: string): readonly string[] {
  const pieces: string[] = []
  let rest = sentence
  while (rest.length > pieceLengthMax) {
    const blank = rest.lastIndexOf(' ', pieceLengthMax)
    const end = blank > pieceLengthMax / 2 ? blank : pieceLengthMax
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...pieces, rest]
}

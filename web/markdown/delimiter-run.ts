import type { DelimiterRun } from './inline-token.ts'
import type { Style } from './inline.ts'

// Emphasis follows CommonMark 0.31, section 6.2 and the appendix "An algorithm for parsing nested emphasis and
// links". Strikethrough follows GFM, section 6.5. Chinese, Japanese and Korean have no spaces around words: their
// letters and punctuation count as what may stand outside of a mark, as in the rules of markdown-cjk-friendly.

/**
 * Parses a delimiter run. The characters around it decide whether it may open or close. Adjacent tildes are ignored, as
 * on GitHub: `**~~a~~**b`.
 */
export function readRun(text: string, offset: number, marks: string): DelimiterRun {
  const character = marks.charAt(0),
    length = marks.length
  const before = kindBefore(text, offset),
    after = kindAfter(text, offset + length)
  const isLeft = isFlanking(before, after)
  const isRight = isFlanking(after, before)
  // A single tilde within words is of a range: `5~7, 10~20`.
  if (marks === '~' && isLeft && isRight) return { ...noMark, character, length, rest: length, closes: [], opens: [] }
  const isWithinWord = isLeft && isRight && character === '_'
  const isMark = character !== '~' || length <= 2
  return {
    kind: 'run',
    character,
    length,
    canOpen: isMark && isLeft && (!isWithinWord || isPunctuation(text, offset - 1)),
    canClose: isMark && isRight && (!isWithinWord || isPunctuation(text, offset + length)),
    rest: length,
    closes: [],
    opens: [],
  }
}

/** Whether a run belongs to what is within: to the character at one side of it, seen from the other. */
function isFlanking(outside: Neighbour, within: Neighbour): boolean {
  return within !== 'space' && (within !== 'punctuation' || outside !== 'word')
}

const noMark = { kind: 'run', canOpen: false, canClose: false } as const

/** `punctuation` is not of Chinese, Japanese or Korean. */
type Neighbour = 'space' | 'punctuation' | 'word' | 'cjk'

function kindBefore(text: string, offset: number): Neighbour {
  let end = offset
  while (text[end - 1] === '~') end -= 1
  const unit = text.charAt(end - 1)
  return kindOf(unit >= '\uDC00' && unit <= '\uDFFF' ? text.slice(end - 2, end) : unit)
}

function kindAfter(text: string, offset: number): Neighbour {
  let start = offset
  while (text[start] === '~') start += 1
  return kindOf(String.fromCodePoint(text.codePointAt(start) ?? 32))
}

function kindOf(character: string): Neighbour {
  if (/^\s?$/.test(character)) return 'space'
  if (cjk.test(character)) return 'cjk'
  return /[\p{P}\p{S}]/u.test(character) ? 'punctuation' : 'word'
}

/** Letters and punctuation of Chinese, Japanese and Korean, and full-width forms. */
const cjk = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\u3000-\u303f\uff00-\uffef]/u

/** Whether the character at this offset is punctuation of any language. Tildes are ignored. */
function isPunctuation(text: string, offset: number): boolean {
  return /[\p{P}\p{S}]/u.test(text.charAt(offset))
}

interface Opener {
  readonly run: DelimiterRun
  readonly index: number
}

/**
 * Matches openers with closers, and records in each run which styles begin and end there. Linear time: `floors` bounds
 * searches that failed before.
 */
export function matchRuns(runs: readonly DelimiterRun[]): void {
  const openers: Opener[] = [],
    floors = new Map<string, number>()
  for (const [index, run] of runs.entries()) {
    const key = `${run.character}${run.canOpen}${run.character === '~' ? run.length : run.length % 3}`
    while (run.canClose && run.rest > 0) {
      const opener = takeOpener(openers, run, floors.get(key) ?? 0)
      if (opener === undefined) {
        floors.set(key, index)
        break
      }
      matchPair(opener.run, run)
      if (opener.run.rest > 0) openers.push(opener)
    }
    if (run.canOpen && run.rest > 0) openers.push({ run, index })
  }
}

/**
 * Returns the nearest opener that matches the closer, and drops the openers after it; their marks stay text.
 *
 * @param floor index of the first run to consider
 */
function takeOpener(openers: Opener[], closer: DelimiterRun, floor: number): Opener | undefined {
  for (let index = openers.length - 1; index >= 0; index -= 1) {
    const opener = openers[index]
    if (opener === undefined || opener.index < floor) return undefined
    if (!canMatch(opener.run, closer)) continue
    openers.length = index
    return opener
  }
  return undefined
}

function canMatch(opener: DelimiterRun, closer: DelimiterRun): boolean {
  if (opener.character !== closer.character) return false
  if (opener.character === '~') return opener.length === closer.length
  const isEitherOpenerAndCloser = opener.canClose || closer.canOpen
  return !isEitherOpenerAndCloser || (opener.length + closer.length) % 3 !== 0 || opener.length % 3 === 0
}

function matchPair(opener: DelimiterRun, closer: DelimiterRun): void {
  const length = Math.min(opener.rest, closer.rest, 2)
  opener.rest -= length
  closer.rest -= length
  const style: Style = opener.character === '~' ? 'deleted' : length === 2 ? 'strong' : 'emphasis'
  opener.opens.push(style)
  closer.closes.push(style)
}

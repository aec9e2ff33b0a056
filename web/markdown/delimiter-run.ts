import type { DelimiterRun } from './inline-token.ts'
import type { Style } from './inline.ts'

// Emphasis follows CommonMark 0.31, section 6.2 and the appendix "An algorithm for parsing nested emphasis and
// links". Strikethrough follows GFM, section 6.5.

/**
 * Parses a delimiter run. The characters around it decide whether it may open or close. Adjacent tildes are ignored, as
 * on GitHub: `**~~a~~**b`.
 */
export function readRun(text: string, offset: number, marks: string): DelimiterRun {
  const character = marks.charAt(0),
    length = marks.length
  const before = kindBefore(text, offset),
    after = kindAfter(text, offset + length)
  const isLeft = after !== 'space' && (after === 'word' || before !== 'word')
  const isRight = before !== 'space' && (before === 'word' || after !== 'word')
  const isWithinWord = isLeft && isRight && character === '_'
  const isMark = character !== '~' || length <= 2
  return {
    kind: 'run',
    character,
    length,
    canOpen: isMark && isLeft && (!isWithinWord || before === 'punctuation'),
    canClose: isMark && isRight && (!isWithinWord || after === 'punctuation'),
    rest: length,
    closes: [],
    opens: [],
  }
}

type Neighbour = 'space' | 'punctuation' | 'word'

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
  return /[\p{P}\p{S}]/u.test(character) ? 'punctuation' : 'word'
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

import type { Run } from './inline-token.ts'
import type { Style } from './inline.ts'

// Emphasis, by CommonMark 0.31, section 6.2 and the appendix "An algorithm for parsing nested emphasis and links"; strikethrough by GFM, section 6.5.

/**
 * The run of marks that stands there. Whether it may open or close depends on what is around it, tildes left out:
 * `**~~a~~**b` (as GitHub does).
 */
export function readRun(text: string, offset: number, marks: string): Run {
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
  readonly run: Run
  readonly index: number
}

/**
 * Tells the runs what begins and ends at each. Takes linear time: where nothing was found once, nothing is sought
 * again.
 */
export function matchRuns(runs: readonly Run[]): void {
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
      join(opener.run, run)
      if (opener.run.rest > 0) openers.push(opener)
    }
    if (run.canOpen && run.rest > 0) openers.push({ run, index })
  }
}

/** The nearest opener that goes with the closer. Those between are left as text. @param floor none before it does */
function takeOpener(openers: Opener[], closer: Run, floor: number): Opener | undefined {
  for (let place = openers.length - 1; place >= 0; place -= 1) {
    const opener = openers[place]
    if (opener === undefined || opener.index < floor) return undefined
    if (!goTogether(opener.run, closer)) continue
    openers.length = place
    return opener
  }
  return undefined
}

function goTogether(opener: Run, closer: Run): boolean {
  if (opener.character !== closer.character) return false
  if (opener.character === '~') return opener.length === closer.length
  const isEitherBoth = opener.canClose || closer.canOpen
  return !isEitherBoth || (opener.length + closer.length) % 3 !== 0 || opener.length % 3 === 0
}

function join(opener: Run, closer: Run): void {
  const length = Math.min(opener.rest, closer.rest, 2)
  opener.rest -= length
  closer.rest -= length
  const style: Style = opener.character === '~' ? 'deleted' : length === 2 ? 'strong' : 'emphasis'
  opener.opens.push(style)
  closer.closes.push(style)
}

import type { Block } from './block.ts'
import { definitionsOf, noDefinitions, type Definitions } from './definitions.ts'
import { blocksOf, emptyReading, readLine, type Reading } from './read-line.ts'
import type { Sequence } from './sequence.ts'

/** A text as blocks. */
export interface Document {
  readonly blocks: Sequence<Block>
  /**
   * None while the text grows: a link by label is resolved when the text has ended, since a definition may come last
   * and change much of what is shown.
   */
  readonly definitions: Definitions
}

/** Reads a text that grows. What was read is not read again, and blocks that are complete stay the same objects. */
export interface TextReader {
  /** The document, which depends on nothing but the arguments. */
  read(text: string, isGrowing: boolean): Document
}

/** A reader that has read nothing. */
export function textReader(): TextReader {
  let reading: Reading = emptyReading,
    seen = ''
  let last: { readonly text: string; readonly isGrowing: boolean; readonly document: Document } | undefined

  /** Reads the complete lines; the text behind them is left. */
  function readLines(text: string): string {
    // Quicker than `startsWith`, which looks at one character after another.
    if (text.slice(0, seen.length) !== seen) [reading, seen] = [emptyReading, '']
    let start = seen.length
    for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
      reading = readLine(reading, cleanLine(text.slice(start, end)))
      start = end + 1
    }
    seen = text.slice(0, start)
    return cleanLine(text.slice(start))
  }

  function readDocument(text: string, isGrowing: boolean): Document {
    const rest = readLines(text)
    const isShown = rest !== '' && !(isGrowing && isUndecided(rest))
    const { blocks, found } = blocksOf(isShown ? readLine(reading, rest) : reading, isGrowing)
    return { blocks, definitions: isGrowing ? noDefinitions : definitionsOf(found) }
  }

  return {
    read(text, isGrowing) {
      if (last?.text === text && last.isGrowing === isGrowing) return last.document
      last = { text, isGrowing, document: readDocument(text, isGrowing) }
      return last.document
    },
  }
}

function cleanLine(line: string): string {
  const withoutReturn = line.endsWith('\r') ? line.slice(0, -1) : line
  return withoutReturn.includes('\0') ? withoutReturn.replaceAll('\0', '\uFFFD') : withoutReturn
}

/**
 * Whether the beginning of a line may still become several things: a rule or an item, a heading or a word. Showing it
 * would flicker.
 */
function isUndecided(line: string): boolean {
  return line.length < 40 && /^[\s>]*(?:[-+*=_#`~|: ]+|\d{1,9}[.)]?)?\s*(?:\[[ xX]?\]?)?$/.test(line)
}

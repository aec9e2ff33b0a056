import type { Block } from './block.ts'
import { definitionsOf, noDefinitions, type Definitions } from './definitions.ts'
import type { ParsedLines } from './frames.ts'
import { blocksOf, noParsedLines, readLine } from './read-line.ts'
import type { Sequence } from './sequence.ts'

/** A parsed document. */
export interface Document {
  readonly blocks: Sequence<Block>
  /** Empty while the text grows: a late definition could change many visible links. */
  readonly definitions: Definitions
}

/** Incremental parser of a growing text. Complete lines are parsed once, and complete blocks stay the same objects. */
export interface TextReader {
  /** Parses the text. The result depends on the arguments only. */
  read(text: string, isGrowing: boolean): Document
}

export function textReader(): TextReader {
  let parsed: ParsedLines = noParsedLines,
    parsedText = ''
  let last: { readonly text: string; readonly isGrowing: boolean; readonly document: Document } | undefined

  /** Parses the new complete lines, and returns the incomplete last one. */
  function readLines(text: string): string {
    // Faster than `startsWith`, which compares character by character.
    if (text.slice(0, parsedText.length) !== parsedText) [parsed, parsedText] = [noParsedLines, '']
    let start = parsedText.length
    for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
      parsed = readLine(parsed, cleanLine(text.slice(start, end)))
      start = end + 1
    }
    parsedText = text.slice(0, start)
    return cleanLine(text.slice(start))
  }

  function readDocument(text: string, isGrowing: boolean): Document {
    const rest = readLines(text)
    const isShown = rest !== '' && !(isGrowing && isUndecided(rest))
    const { blocks, found } = blocksOf(isShown ? readLine(parsed, rest) : parsed, isGrowing)
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
 * Whether an incomplete line could still become different blocks, such as a rule or a list item. Showing it would
 * flicker.
 */
function isUndecided(line: string): boolean {
  return (
    line.length < 40 &&
    /^[\s>]*(?:[-+*=_#`~|:$\\ ]+|\d{1,9}[.)]?)?\s*(?:\[(?:[ xX]?|![A-Za-z]*)\]?|<\/?[a-z]*>?)?$/.test(line)
  )
}

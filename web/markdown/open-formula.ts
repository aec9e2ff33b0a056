import { continueFrames } from './continue-frames.ts'
import { indentAt, restOf, startOf } from './cursor.ts'
import { addBlock, type LineState, type OpenFormula, type ParsedLines } from './frames.ts'
import { readFence } from './line-rules.ts'
import { formulaCharactersMax } from './read-formula.ts'

/**
 * Begins a formula, or adds the block if it ends on the same line.
 *
 * @returns whether the line is complete
 */
export function beginFormula(state: LineState, text: string): boolean {
  const opening = text.slice(0, 2),
    closing = opening === '$$' ? '$$' : '\\]'
  if (state.formula !== undefined || (opening !== '$$' && opening !== '\\[') || text[2] === '$') return false
  const line = readFormulaLine(text.slice(2), closing)
  if (line?.isLast) return addFormula(state, line.source, text)
  if (line === undefined) return false
  const { found, isAfterBlankLine, outline, matched } = state
  // The paragraph before it stays open: closing it takes time for all of its text.
  const before = { frames: [...state.frames], found, isAfterBlankLine, outline, formula: undefined }
  state.formula = { closing, source: `${line.source}\n`, before, matched }
  return false
}

/**
 * Reads the next line of a formula, given without its line end. A blank line, a code fence, the end of the quote or
 * list around the formula, and too much text prevent it.
 *
 * @returns the state after a line that ends the formula; the longer formula; undefined: it is none
 */
export function continueFormula(formula: OpenFormula, line: string): ParsedLines | OpenFormula | undefined {
  const found = readFormulaLine(contentOf(formula, line) ?? '', formula.closing)
  if (found === undefined || (found.source.trim() === '' && !found.isLast)) return undefined
  const source = formula.source + found.source
  if (source.length > formulaCharactersMax) return undefined
  if (!found.isLast) return { ...formula, source: `${source}\n` }
  const state = stateBefore(formula)
  return addFormula(state, source, written(formula.closing, source) + formula.closing)
    ? { ...formula.before, frames: state.frames, found: state.found, isAfterBlankLine: false }
    : undefined
}

/** Returns the state with an open formula as a block. */
export function showOpenFormula(formula: OpenFormula): ParsedLines {
  const state = stateBefore(formula)
  addBlock(state, { kind: 'formula', source: undefined, written: written(formula.closing, formula.source).trimEnd() })
  return { ...formula.before, frames: state.frames }
}

/** Strips the marks of the quotes and lists around the formula from a line. Returns undefined if it leaves them. */
function contentOf({ before, matched }: OpenFormula, line: string): string | undefined {
  const frames = before.frames.slice(0, matched).filter(({ kind }) => kind !== 'paragraph')
  const state: LineState = { ...before, frames, matched: 1, cursor: startOf(line) }
  continueFrames(state)
  const { cursor } = state
  const isContinued = state.matched === frames.length && readFence(line.slice(indentAt(cursor).offset)) === undefined
  return isContinued ? restOf(cursor) : undefined
}

function stateBefore({ before, matched }: OpenFormula): LineState {
  return { ...before, frames: [...before.frames], matched, cursor: startOf('') }
}

/** Returns whether there is a formula. */
function addFormula(state: LineState, source: string, written: string): boolean {
  if (source.trim() === '') return false
  addBlock(state, { kind: 'formula', source, written })
  return true
}

function written(closing: OpenFormula['closing'], source: string): string {
  return (closing === '$$' ? '$$' : '\\[') + source
}

/** Splits a line at the closing mark, if there is one. Returns undefined if text follows it. */
function readFormulaLine(
  line: string,
  closing: OpenFormula['closing'],
): { readonly source: string; readonly isLast: boolean } | undefined {
  const mark = closing === '$$' ? /\\[^]|\$\$/g : /\\[^]/g
  for (const { 0: found, index } of line.matchAll(mark)) {
    if (found === closing)
      return line.slice(index + 2).trim() === '' ? { source: line.slice(0, index), isLast: true } : undefined
  }
  return { source: line, isLast: false }
}

import type { ReactElement } from 'react'
import temml from 'temml'
import { mathElement, mathElements } from './math-elements.ts'

// Loaded when the first formula is shown.

// Definitions of macros. They could make a short formula very long.
const definition = /\\(?:[egx]?def|(?:future)?let|(?:re|provide)?(?:new)?command)(?![a-zA-Z])/
// Invisible characters that change the order of text.
const bidiControl = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

/**
 * Renders TeX as MathML.
 *
 * @returns undefined if the formula has an error, defines macros, turns the direction of text, or is too large
 */
export function showFormula(source: string, isDisplay: boolean): ReactElement | undefined {
  if (definition.test(source) || bidiControl.test(source)) return undefined
  try {
    const tree: unknown = temml.__renderToMathMLTree(source, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      maxExpand: 1_000,
      // In em and pt.
      maxSize: [20, 200],
      // Long formulas in a line break after operators, as in TeX.
      wrap: isDisplay ? 'none' : 'tex',
    })
    const display = isDisplay ? 'block' : undefined
    return mathElement('math', { alttext: source.trim(), display, children: mathElements(tree) })
  } catch {
    // An error of the formula, or a nesting that exceeds a limit or the stack.
    return undefined
  }
}

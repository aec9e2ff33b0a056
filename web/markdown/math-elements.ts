import type { ReactElement, ReactNode } from 'react'
import { Fragment, jsxs } from 'react/jsx-runtime'

const nodesMax = 5_000
const depthMax = 100

const elements = new Set(
  (
    'math mrow mi mn mo mtext mspace msup msub msubsup mover munder munderover mmultiscripts mprescripts none mfrac ' +
    'msqrt mroot mpadded mphantom mstyle mtable mtr mtd menclose'
  ).split(' '),
)
const attributes = new Set(
  (
    'accent columnspan depth displaystyle fence form height largeop linethickness lspace mathbackground mathcolor ' +
    'mathsize mathvariant maxsize minsize movablelimits rspace scriptlevel separator stretchy symmetric voffset width'
  ).split(' '),
)
const styles = new Set(
  (
    'border borderBottom borderLeft borderRight borderTop color display fontStyle fontWeight height justifyContent ' +
    'marginLeft mathDepth padding paddingBottom paddingLeft paddingRight paddingTop textAlign width'
  ).split(' '),
)

/**
 * Converts the tree of the library into elements. Only known elements, attributes and styles pass, so a formula has no
 * addresses, handlers or sources, and stays near its place.
 *
 * @param tree its element `math`, whose children are converted
 * @throws an `Error` if the tree is too large or too deep
 */
export function mathElements(tree: unknown): readonly ReactNode[] {
  let nodes = 0

  function convert(node: unknown, depth: number): ReactNode {
    nodes += 1
    if (nodes > nodesMax || depth > depthMax) throw new Error('The formula is too large')
    if (!isRecord(node)) return null
    const { text, type } = node
    if (typeof text === 'string') return text
    const children = childrenOf(node, depth)
    // A fragment has no type.
    if (typeof type !== 'string') return jsxs(Fragment, { children })
    return mathElement(elements.has(type) ? type : 'mrow', { ...propertiesOf(node), children })
  }

  const childrenOf = ({ children }: Readonly<Record<string, unknown>>, depth: number): readonly ReactNode[] =>
    Array.isArray(children) ? children.map((child) => convert(child, depth + 1)) : []

  return isRecord(tree) ? childrenOf(tree, 0) : []
}

/** Creates an element of MathML. */
export function mathElement(name: string, properties: object): ReactElement {
  // React renders any name, but has no types for those of MathML.
  return jsxs(name as 'div', properties)
}

function propertiesOf({ attributes: given, classes, style }: Readonly<Record<string, unknown>>): object {
  const names = Array.isArray(classes)
    ? classes.filter((name) => /^(?:(?:tml|chr)-[a-z0-9-]+|\w+strike|sout)$/.test(String(name)))
    : []
  const { color, ...shown } = chosen(style, styles)
  // Authors of formulas think of black on white.
  const shownColor = color === undefined ? color : `light-dark(${color}, color-mix(in oklab, ${color} 60%, white))`
  return {
    ...chosen(given, attributes),
    style: { ...shown, color: shownColor },
    className: names.length > 0 ? names.join(' ') : undefined,
  }
}

/** Copies known members with harmless values: no functions, and no large negative lengths. */
function chosen(values: unknown, known: ReadonlySet<string>): Readonly<Partial<Record<string, string>>> {
  if (!isRecord(values)) return {}
  const entries = Object.entries(values).map(([name, value]): [string, string] => [camelCase(name), String(value)])
  return Object.fromEntries(
    entries.filter(
      ([name, value]) =>
        known.has(name) && value !== 'undefined' && /^[\w\s#.%+-]*$/.test(value) && !/-\s*\d\d/.test(value),
    ),
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

import { Fragment, type ReactNode } from 'react'

/** A text with elements in place of its marks: `rich('Press {key}.', { key: <kbd>?</kbd> })`. */
export function rich(text: string, parts: Readonly<Record<string, ReactNode>>): ReactNode {
  return text.split(/\{(\w+)\}/).map((piece, at) => <Fragment key={at}>{at % 2 === 0 ? piece : parts[piece]}</Fragment>)
}

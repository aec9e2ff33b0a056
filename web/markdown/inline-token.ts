import type { Style } from './inline.ts'

/**
 * What running text is made of, one after the other. Where things begin and end is told by tokens too, so nothing is
 * nested yet.
 */
export type Token =
  | Leaf
  | Run
  | Opening
  /** The end of a link or an image. `source`: its text, from the closing bracket on. */
  | { readonly kind: 'closing'; readonly source: string }

/** What has nothing in it. */
export type Leaf =
  /** As written: references are still to be decoded, and mailboxes to be found. */
  | { readonly kind: 'source'; readonly text: string }
  /** To be shown as it is. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | Address

/** An address that stands in the text. */
export interface Address {
  readonly kind: 'address'
  readonly target: string
  /** What is shown. */
  readonly text: string
  /** What is shown if it leads nowhere. */
  readonly source: string
}

/** Marks such as `**`, all of the same character. */
export interface Run {
  readonly kind: 'run'
  readonly character: string
  readonly length: number
  readonly canOpen: boolean
  readonly canClose: boolean
  /** How many of the marks have no use yet. */
  rest: number
  /** What ends here, the innermost first. */
  readonly closes: Style[]
  /** What begins here, the innermost first. */
  readonly opens: Style[]
}

/** A bracket that may open a link or an image. */
export interface Opening {
  readonly kind: 'opening'
  readonly mark: '[' | '!['
  /** Its destination, once it is known to be one. */
  target: string | undefined
}

/** A token, and where what it was read from ends. */
export interface Found {
  readonly token: Token
  readonly end: number
}

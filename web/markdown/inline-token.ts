import type { Formula, Style } from './inline.ts'

/** A token of inline text. The list is flat: tokens mark where nested elements begin and end. */
export type Token =
  | TextToken
  | DelimiterRun
  | Opening
  /** End of a link or image. `source`: its text, from the closing bracket on. */
  | { readonly kind: 'closing'; readonly source: string }
  /** An element of HTML. */
  | { readonly kind: 'element'; readonly style: Style; readonly tokens: readonly Token[] }

/** A token without nested elements. */
export type TextToken =
  /** Source text: references are not decoded, mail addresses not recognised. */
  | { readonly kind: 'source'; readonly text: string }
  /** Text to show unchanged. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | { readonly kind: 'footnote'; readonly label: string }
  | Formula
  | AddressToken

/** An address in the text. */
export interface AddressToken {
  readonly kind: 'address'
  readonly target: string
  /** Text of the link. */
  readonly text: string
  /** Shown instead if the address is not allowed. */
  readonly source: string
}

/** A delimiter run such as `**`: marks of the same character. */
export interface DelimiterRun {
  readonly kind: 'run'
  readonly character: string
  readonly length: number
  readonly canOpen: boolean
  readonly canClose: boolean
  /** Number of unmatched marks. */
  rest: number
  /** Styles that end here, the innermost first. */
  readonly closes: Style[]
  /** Styles that begin here, the innermost first. */
  readonly opens: Style[]
}

/** A bracket that may open a link or an image. */
export interface Opening {
  readonly kind: 'opening'
  readonly mark: '[' | '!['
  /** Destination, if it opens a link or image. */
  target: string | undefined
}

/** A token with the end of its source. */
export interface FoundToken {
  readonly token: Token
  readonly end: number
}

/** An inline element, ready to render. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'break' }
  /** Refers to the footnote with this label. */
  | { readonly kind: 'footnote'; readonly label: string }
  | Formula
  | { readonly kind: Style; readonly children: readonly Inline[] }
  /** `address`: http, https or mailto. */
  | { readonly kind: 'link'; readonly address: string; readonly children: readonly Inline[] }
  /** `source`: a data URL of an image. */
  | { readonly kind: 'image'; readonly source: string; readonly alternative: string }

/** A formula, in TeX. */
export interface Formula {
  readonly kind: 'formula'
  readonly source: string
  /** The source with its marks. */
  readonly written: string
  /** Whether it stands on lines of its own. */
  readonly isDisplay: boolean
}

/** Style of text. */
export type Style = 'emphasis' | 'strong' | 'deleted' | 'sub' | 'sup' | 'kbd'

/** Returns the text without formatting. */
export function plainText(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      switch (inline.kind) {
        case 'text':
        case 'code':
          return inline.text
        case 'break':
          return ' '
        case 'footnote':
          return ''
        case 'formula':
          return inline.written
        case 'image':
          return inline.alternative
        case 'emphasis':
        case 'strong':
        case 'deleted':
        case 'sub':
        case 'sup':
        case 'kbd':
        case 'link':
          return plainText(inline.children)
      }
    })
    .join('')
}

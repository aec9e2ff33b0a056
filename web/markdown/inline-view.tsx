import { memo, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { definitionsFor, noDefinitions, type Definitions } from './definitions.ts'
import { FootnoteMark } from './footnote-view.tsx'
import { FormulaView } from './formula-view.tsx'
import type { Inline } from './inline.ts'
import { groupPieces, splitPieces, type Piece } from './pieces.ts'
import { readInline } from './read-inline.ts'

/** Renders inline text. A piece is parsed again only if it changed. A very long text is split into several boxes. */
export function InlineText({ text, definitions }: TextProps): ReactNode {
  const parts = groupPieces(splitPieces(text))
  return parts.map((part, index) => {
    const pieces = <Pieces key={index} pieces={part} definitions={definitions} />
    return parts.length === 1 ? (
      pieces
    ) : (
      <span key={index} className="block [unicode-bidi:plaintext]">
        {pieces}
      </span>
    )
  })
}

interface TextProps {
  readonly text: string
  readonly definitions: Definitions
}

function Pieces({
  pieces,
  definitions,
}: {
  readonly pieces: readonly Piece[]
  readonly definitions: Definitions
}): ReactNode {
  return pieces.map((piece, index) => {
    if (piece.kind === 'image')
      return <ArrivingImage key={index} alternative={piece.alternative} source={piece.source} />
    return (
      <TextPiece
        key={index}
        text={piece.text}
        definitions={definitionsFor(piece.text, definitions) === noDefinitions ? noDefinitions : definitions}
      />
    )
  })
}

const TextPiece = memo(function TextPiece({ text, definitions }: TextProps): ReactNode {
  return showAll(readInline(text, definitions))
})

function showAll(inlines: readonly Inline[]): ReactNode {
  return inlines.map(show)
}

const tags = { emphasis: 'em', strong: 'strong', deleted: 'del', sub: 'sub', sup: 'sup', kbd: 'kbd' } as const

function show(inline: Inline, index: number): ReactNode {
  switch (inline.kind) {
    case 'text':
      return inline.text
    case 'code':
      return (
        <code key={index} dir="ltr" className="rounded-sm bg-hover px-1 py-0.5 font-mono text-sm">
          {inline.text}
        </code>
      )
    case 'break':
      return <br key={index} />
    case 'formula':
      return <FormulaView key={index} source={inline.source} written={inline.written} isDisplay={inline.isDisplay} />
    case 'footnote':
      return <FootnoteMark key={index} label={inline.label} />
    case 'link':
      return (
        <a
          key={index}
          href={inline.address}
          title={inline.address}
          rel="noreferrer noopener"
          target="_blank"
          dir="auto"
          className="text-accent underline"
        >
          {showAll(inline.children)}
        </a>
      )
    case 'image':
      return <ShownImage key={index} source={inline.source} alternative={inline.alternative} />
    default: {
      const Tag = tags[inline.kind]
      return <Tag key={index}>{showAll(inline.children)}</Tag>
    }
  }
}

function ArrivingImage({
  source,
  alternative,
}: {
  readonly source: string | undefined
  readonly alternative: string
}): ReactNode {
  if (source !== undefined) return <ShownImage source={source} alternative={alternative} />
  return (
    <span className="text-muted">
      {alternative === '' ? say.markdown.imageArriving : say.markdown.imageArrivingNamed(alternative)}
    </span>
  )
}

const ShownImage = memo(function ShownImage({
  source,
  alternative,
}: {
  readonly source: string
  readonly alternative: string
}): ReactNode {
  return <img src={source} alt={alternative} decoding="async" className="my-2 max-h-[32rem] max-w-full rounded-lg" />
})

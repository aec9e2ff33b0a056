import { memo, useState, type ReactNode } from 'react'
import { BlockView } from './block-view.tsx'
import type { Block } from './block.ts'
import type { Definitions } from './definitions.ts'
import { textReader } from './read-text.ts'

/**
 * Renders Markdown (CommonMark with GFM tables, task lists, strikethrough and addresses). The text cannot create
 * markup, code or requests. A growing text is parsed incrementally, and complete blocks are not rendered again.
 *
 * @param text the whole text so far
 * @param isStreaming more text may follow. Reference links, and colours of the last code block, wait for the end
 */
export const Markdown = memo(function Markdown({
  text,
  isStreaming,
}: {
  readonly text: string
  readonly isStreaming: boolean
}): ReactNode {
  const [reader] = useState(textReader)
  const { blocks, definitions } = reader.read(text, isStreaming)
  const last = blocks.groups.length - 1
  return (
    <div className="space-y-3 wrap-anywhere">
      {blocks.groups.map((group, index) => (
        <BlockGroup key={index} group={group} isComplete={index < last} definitions={definitions} />
      ))}
    </div>
  )
})

interface GroupProps {
  readonly group: readonly Block[]
  readonly isComplete: boolean
  readonly definitions: Definitions
}

/**
 * Renders some blocks. Complete ones far from the visible part are neither laid out nor painted; the browser remembers
 * their height.
 */
const BlockGroup = memo(function BlockGroup({ group, isComplete, definitions }: GroupProps): ReactNode {
  // Content is clipped at the edges; the padding leaves space for focus outlines.
  const skipped = isComplete ? '[contain-intrinsic-size:auto_100rem] [content-visibility:auto]' : ''
  return (
    <div className={`-m-1 space-y-3 p-1 ${skipped}`}>
      {group.map((block, index) => (
        <BlockView key={index} block={block} direction="auto" definitions={definitions} />
      ))}
    </div>
  )
})

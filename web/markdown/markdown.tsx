import { memo, useState, type ReactNode } from 'react'
import { BlockView } from './block-view.tsx'
import type { Block } from './block.ts'
import type { Definitions } from './definitions.ts'
import { textReader } from './read-text.ts'

/**
 * Markdown (CommonMark with tables, task lists, strikethrough and addresses of GFM) as elements; nothing in it becomes
 * markup, code or a request. A text that grows costs what was added to it, and nothing that is complete is shown anew.
 *
 * @param text all of the text so far
 * @param isStreaming more may come. Links by label, and colours of the last block of code, wait for its end.
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
 * Some blocks. Complete ones that are far from what is seen are neither laid out nor painted; a browser remembers their
 * height.
 */
const BlockGroup = memo(function BlockGroup({ group, isComplete, definitions }: GroupProps): ReactNode {
  // Its content is cut off at its edges, so there is room for the outline of what has focus.
  const className = `-m-1 space-y-3 p-1 ${isComplete ? '[contain-intrinsic-size:auto_100rem] [content-visibility:auto]' : ''}`
  return (
    <div className={className}>
      {group.map((block, index) => (
        <BlockView key={index} block={block} direction="auto" definitions={definitions} />
      ))}
    </div>
  )
})

import { memo, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import type { Alert, Block, Item } from './block.ts'
import { CodeBlock } from './code-block.tsx'
import { CodeLines } from './code-lines.tsx'
import type { Definitions } from './definitions.ts'
import { Footnote } from './footnote-view.tsx'
import { FormulaView } from './formula-view.tsx'
import { InlineText } from './inline-view.tsx'
import { groupSize, type Sequence } from './sequence.ts'
import { TableView } from './table-view.tsx'

interface DefinitionsProps {
  readonly definitions: Definitions
}

/**
 * Blocks within another block. The outer block determines the base direction from its text; each line of text still has
 * its own.
 */
function NestedBlocks({ blocks, definitions }: DefinitionsProps & { readonly blocks: Sequence<Block> }): ReactNode {
  return blocks.groups.map((group, index) => <NestedGroup key={index} group={group} definitions={definitions} />)
}

const NestedGroup = memo(function NestedGroup({
  group,
  definitions,
}: DefinitionsProps & { readonly group: readonly Block[] }): ReactNode {
  return group.map((block, index) => (
    <BlockView key={index} block={block} direction={undefined} definitions={definitions} />
  ))
})

/** Renders one block. The same object is not rendered again. */
export const BlockView = memo(function BlockView({
  block,
  direction,
  definitions,
}: DefinitionsProps & { readonly block: Block; readonly direction: 'auto' | undefined }): ReactNode {
  switch (block.kind) {
    case 'paragraph':
      return (
        <p dir={direction} className="[unicode-bidi:plaintext]">
          <InlineText text={block.text} definitions={definitions} />
        </p>
      )
    case 'heading':
      return (
        <Heading depth={block.depth} level={block.level} direction={direction}>
          <InlineText text={block.text} definitions={definitions} />
        </Heading>
      )
    case 'rule':
      return <hr className="border-line" />
    case 'quote':
      return block.alert !== undefined ? (
        <AlertBox alert={block.alert}>
          <NestedBlocks blocks={block.children} definitions={definitions} />
        </AlertBox>
      ) : (
        <blockquote dir="auto" className="space-y-3 border-s-4 border-line ps-4 text-muted">
          <NestedBlocks blocks={block.children} definitions={definitions} />
        </blockquote>
      )
    case 'details':
      return (
        <details open={block.isOpen} dir="auto" className="rounded-lg border border-line px-3 py-2">
          <summary className="w-fit">
            {block.summary === '' ? say.common.details : <InlineText text={block.summary} definitions={definitions} />}
          </summary>
          <div className="space-y-3 pt-2">
            <NestedBlocks blocks={block.children} definitions={definitions} />
          </div>
        </details>
      )
    case 'footnote':
      return (
        <Footnote label={block.label}>
          <NestedBlocks blocks={block.children} definitions={definitions} />
        </Footnote>
      )
    case 'list':
      return <List block={block} definitions={definitions} />
    case 'table':
      return <TableView table={block} definitions={definitions} />
    case 'code':
      return <CodeBlock code={block} />
    case 'formula':
      return (
        <p dir="ltr">
          <FormulaView source={block.source} written={block.written} isDisplay />
        </p>
      )
    case 'html':
      return (
        <pre dir="auto" className="text-sm whitespace-pre-wrap">
          <CodeLines chunks={block.chunks} />
        </pre>
      )
  }
})

const alertLooks = {
  note: ['info', 'border-accent', 'text-accent'],
  tip: ['check', 'border-ok', 'text-ok'],
  important: ['chat', 'border-accent', 'text-accent'],
  warning: ['warn', 'border-warn', 'text-warn'],
  caution: ['stop', 'border-bad', 'text-bad'],
} as const satisfies Readonly<Record<Alert, readonly [IconName, string, string]>>

function AlertBox({ alert, children }: { readonly alert: Alert; readonly children: ReactNode }): ReactNode {
  const [icon, border, colour] = alertLooks[alert]
  return (
    <div role="note" dir="auto" className={`space-y-2 border-s-4 ps-4 ${border}`}>
      <p className={`flex items-center gap-2 font-semibold capitalize ${colour}`}>
        <Icon name={icon} className="size-4" />
        {alert}
      </p>
      {children}
    </div>
  )
}

// By the written depth.
const headingStyles = [
  'text-2xl font-bold',
  'text-xl font-bold',
  'text-lg font-semibold',
  'text-base font-semibold',
  'text-sm font-semibold',
  'text-sm font-semibold text-muted',
] as const
const headingTags = ['h3', 'h4', 'h5', 'h6'] as const

interface HeadingProps {
  readonly depth: number
  readonly level: number
  readonly direction: 'auto' | undefined
  readonly children: ReactNode
}

/** Renders a heading below the headings of the page. Its size follows the written depth, its element the nesting. */
function Heading({ depth, level, direction, children }: HeadingProps): ReactNode {
  const Tag = headingTags[Math.min(level, 4) - 1] ?? 'h6'
  return (
    <Tag dir={direction} className={`pt-2 [unicode-bidi:plaintext] ${headingStyles[depth - 1] ?? ''}`}>
      {children}
    </Tag>
  )
}

const groupsInList = 4

/**
 * Renders a list. A very long list is split into several elements, so the browser lays out only the last one again as
 * it grows.
 */
function List({
  block,
  definitions,
}: DefinitionsProps & { readonly block: Extract<Block, { kind: 'list' }> }): ReactNode {
  const { groups } = block.items
  const digits = String(block.start + groups.length * groupSize).length
  return Array.from({ length: Math.ceil(groups.length / groupsInList) }, (_, index) => {
    const items = groups
      .slice(index * groupsInList, (index + 1) * groupsInList)
      .map((group, each) => <ItemGroup key={each} group={group} definitions={definitions} />)
    if (!block.isOrdered)
      return (
        <ul key={index} dir="auto" className="list-disc ps-6">
          {items}
        </ul>
      )
    return (
      <ol
        key={index}
        dir="auto"
        start={block.start + index * groupsInList * groupSize}
        className={`list-decimal ${digits > 2 ? 'ps-14' : 'ps-8'}`}
      >
        {items}
      </ol>
    )
  })
}

const ItemGroup = memo(function ItemGroup({
  group,
  definitions,
}: DefinitionsProps & { readonly group: readonly Item[] }): ReactNode {
  return group.map((item, index) => <ListItem key={index} item={item} definitions={definitions} />)
})

const ListItem = memo(function ListItem({ item, definitions }: DefinitionsProps & { readonly item: Item }): ReactNode {
  const children = <NestedBlocks blocks={item.children} definitions={definitions} />
  const spacing = item.isSpaced ? 'mt-3 first:mt-0' : 'mt-1 first:mt-0'
  if (item.task === 'none') return <li className={`space-y-2 ${spacing}`}>{children}</li>
  return (
    <li className={`flex list-none items-baseline gap-2 ${spacing}`}>
      <input
        type="checkbox"
        disabled
        checked={item.task === 'done'}
        readOnly
        aria-label={item.task === 'done' ? say.markdown.done : say.markdown.notDone}
        className="-ms-6 size-4 shrink-0 self-start translate-y-1"
      />
      <div className="min-w-0 space-y-2">{children}</div>
    </li>
  )
})

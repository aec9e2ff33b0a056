import { memo, useLayoutEffect, useRef, useState, type CSSProperties, type ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { Menu } from '../ui/menu.tsx'
import type { ConversationHead } from './conversation.ts'
import type { Place } from './fold.ts'
import { MarkedText } from './marked-text.tsx'
import { oneLine } from './one-line.ts'

/** What a row of the list may be asked for. */
export type RowWish = 'rename' | 'pin' | 'save-json' | 'save-markdown' | 'delete'

/** What {@link HistoryRow} shows. */
export interface HistoryRowProps {
  readonly head: ConversationHead
  /** Its number among all rows, from 1, and how many there are. */
  readonly place: number
  readonly count: number
  readonly isCurrent: boolean
  /** The one row that the Tab key reaches; the arrow keys reach the others. */
  readonly isTabStop: boolean
  readonly isBeingRenamed: boolean
  readonly style?: CSSProperties
  /** What was found: where in the title, and around it in a message. */
  readonly titlePlace?: Place | undefined
  readonly excerpt?: (Place & { readonly text: string }) | undefined
  readonly onWish: (wish: RowWish, head: ConversationHead) => void
  /** @param title absent: it stays @param isLeft the focus has gone elsewhere already */
  readonly onRename: (title: string | undefined, head: ConversationHead, isLeft: boolean) => void
}

/** One conversation: a link to it, and a menu. */
export const HistoryRow = memo(function HistoryRow(props: HistoryRowProps): ReactNode {
  const { head, place, count, isCurrent, isTabStop, isBeingRenamed, style, titlePlace, excerpt, onWish, onRename } =
    props
  return (
    <li
      className={`group list-none rounded-lg hover:bg-hover ${isCurrent ? 'bg-hover' : ''} ${style === undefined ? 'relative' : 'absolute inset-x-0'}`}
      style={style}
      aria-setsize={count}
      aria-posinset={place}
      data-row={head.id}
    >
      {isBeingRenamed ? (
        <TitleField title={head.title} onEnd={(title, isLeft) => onRename(title, head, isLeft)} />
      ) : (
        <>
          <a
            href={hrefOf({ view: 'chat', id: head.id })}
            aria-current={isCurrent ? 'page' : undefined}
            aria-keyshortcuts="F2 Delete"
            tabIndex={isTabStop ? 0 : -1}
            title={oneLine(head.title)}
            className={`block scroll-mt-8 rounded-lg py-2 pr-3 pl-3 text-sm -outline-offset-2 group-focus-within:pr-10 group-hover:pr-10 pointer-coarse:py-3 pointer-coarse:pr-11 ${isCurrent ? 'font-medium' : ''}`}
          >
            <bdi className="block truncate text-left">
              {titlePlace === undefined ? oneLine(head.title) : <MarkedText text={head.title} place={titlePlace} />}
            </bdi>
            {excerpt === undefined ? null : (
              <bdi className="line-clamp-2 text-left text-xs text-muted [overflow-wrap:anywhere]">
                <MarkedText text={excerpt.text} place={excerpt} />
              </bdi>
            )}
            {head.isPinned ? <span className="sr-only"> (pinned)</span> : null}
          </a>
          <RowMenu head={head} isTabStop={isTabStop} onWish={onWish} />
        </>
      )}
    </li>
  )
})

function RowMenu({ head, isTabStop, onWish }: Pick<HistoryRowProps, 'head' | 'isTabStop' | 'onWish'>): ReactNode {
  const wish = (name: RowWish) => () => onWish(name, head)
  return (
    <div className="absolute top-0 right-0 flex items-center opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 has-[[aria-expanded=true]]:opacity-100 pointer-coarse:opacity-100">
      <Menu
        label={`More for ${oneLine(head.title)}`}
        tabIndex={isTabStop ? 0 : -1}
        items={[
          { label: 'Rename', icon: 'edit', run: wish('rename') },
          { label: head.isPinned ? 'Unpin' : 'Pin', icon: 'pin', run: wish('pin') },
          { label: 'Export as JSON', icon: 'download', run: wish('save-json') },
          { label: 'Export as Markdown', icon: 'download', run: wish('save-markdown') },
          { label: 'Delete', icon: 'trash', isDanger: true, run: wish('delete') },
        ]}
      />
    </div>
  )
}

/** The title while it is being changed: Enter keeps it, and so does leaving; Escape does not. */
function TitleField({
  title,
  onEnd,
}: {
  readonly title: string
  readonly onEnd: (title: string | undefined, isLeft: boolean) => void
}): ReactNode {
  const [text, setText] = useState(title)
  const field = useRef<HTMLInputElement>(null)
  const isOver = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])

  function end(result: string | undefined, isLeft = false): void {
    if (isOver.current) return
    isOver.current = true
    onEnd(result, isLeft)
  }

  return (
    <input
      ref={field}
      aria-label="Title of the conversation"
      value={text}
      maxLength={200}
      className="h-9 w-full rounded-lg border border-muted bg-raised px-2.5 text-sm pointer-coarse:h-11 pointer-coarse:text-base"
      onChange={(event) => setText(event.target.value)}
      onBlur={({ relatedTarget }) => end(text, relatedTarget !== null)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Enter') end(text)
        if (event.key === 'Escape') end(undefined)
        if (event.key === 'Enter' || event.key === 'Escape') event.preventDefault()
        event.stopPropagation()
      }}
    />
  )
}

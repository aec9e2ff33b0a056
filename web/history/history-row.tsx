import { memo, useLayoutEffect, useRef, useState, type CSSProperties, type ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { say } from '../texts/say.ts'
import { isComposing } from '../ui/is-composing.ts'
import { Menu } from '../ui/menu.tsx'
import type { ConversationHead, SearchHit } from './conversation.ts'
import type { TextRange } from './find-words.ts'
import { foundMessage } from './found-message.ts'
import { oneLine } from './one-line.ts'

/** Commands of a row. */
export type RowCommand = 'rename' | 'pin' | 'move' | 'saveJson' | 'saveMarkdown' | 'saveHtml' | 'delete'

export interface HistoryRowProps {
  readonly head: ConversationHead
  /** Position among all rows, from 1, and number of rows. */
  readonly place: number
  readonly count: number
  readonly isCurrent: boolean
  /** The one row that Tab reaches. Arrow keys reach the others. */
  readonly isTabStop: boolean
  readonly isBeingRenamed: boolean
  readonly style?: CSSProperties
  /** Matches of a search: range in the title, and excerpt of a message. */
  readonly titleRange?: TextRange | undefined
  readonly excerpt?: SearchHit['excerpt'] | undefined
  readonly onCommand: (command: RowCommand, head: ConversationHead) => void
  /**
   * Called after renaming.
   *
   * @param title absent if it did not change
   * @param isLeft whether the focus has moved elsewhere
   */
  readonly onRename: (title: string | undefined, head: ConversationHead, isLeft: boolean) => void
}

/** A conversation in the list: a link and a menu. */
export const HistoryRow = memo(function HistoryRow(props: HistoryRowProps): ReactNode {
  const { head, place, count, isCurrent, isTabStop, isBeingRenamed, style, titleRange, excerpt, onCommand, onRename } =
    props
  return (
    <li
      className={
        `group list-none rounded-lg hover:bg-hover ${isCurrent ? 'bg-hover' : ''} ` +
        (style === undefined ? 'relative' : 'absolute inset-x-0')
      }
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
            data-stop
            aria-keyshortcuts="F2 M Delete"
            tabIndex={isTabStop ? 0 : -1}
            title={oneLine(head.title)}
            onClick={() => {
              if (excerpt !== undefined) foundMessage.set({ conversationId: head.id, messageId: excerpt.messageId })
            }}
            className={
              'block scroll-mt-8 rounded-lg py-2 pr-3 pl-3 text-sm -outline-offset-2 group-focus-within:pr-10 ' +
              `group-hover:pr-10 pointer-coarse:py-3 pointer-coarse:pr-11 ${isCurrent ? 'font-medium' : ''}`
            }
          >
            <bdi className="block truncate text-left">
              {titleRange === undefined ? (
                oneLine(head.title)
              ) : (
                <HighlightedText text={head.title} place={titleRange} />
              )}
            </bdi>
            {excerpt === undefined ? null : (
              <bdi className="line-clamp-2 text-left text-xs text-muted [overflow-wrap:anywhere]">
                <HighlightedText text={excerpt.text} place={excerpt} />
              </bdi>
            )}
            {head.isPinned ? <span className="sr-only">{say.history.pinnedMark}</span> : null}
          </a>
          <RowMenu head={head} isTabStop={isTabStop} onCommand={onCommand} />
        </>
      )}
    </li>
  )
})

function RowMenu({ head, isTabStop, onCommand }: Pick<HistoryRowProps, 'head' | 'isTabStop' | 'onCommand'>): ReactNode {
  const command = (name: RowCommand) => () => onCommand(name, head)
  return (
    <div
      className={
        'absolute top-0 right-0 flex items-center opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 ' +
        'has-[[aria-expanded=true]]:opacity-100 pointer-coarse:opacity-100'
      }
    >
      <Menu
        label={say.history.moreFor(oneLine(head.title))}
        tabIndex={isTabStop ? 0 : -1}
        items={[
          { label: say.history.rename, icon: 'edit', run: command('rename') },
          { label: head.isPinned ? say.history.unpin : say.history.pin, icon: 'pin', run: command('pin') },
          { label: say.folders.move, icon: 'folder', run: command('move') },
          { label: say.history.exportJson, icon: 'download', run: command('saveJson') },
          { label: say.history.exportMarkdown, icon: 'download', run: command('saveMarkdown') },
          { label: say.history.exportHtml, icon: 'download', run: command('saveHtml') },
          { label: say.common.delete, icon: 'trash', isDanger: true, run: command('delete') },
        ]}
      />
    </div>
  )
}

/** Field for the title. Enter and leaving save it; Escape does not. */
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
      aria-label={say.history.titleOfConversation}
      value={text}
      maxLength={200}
      className={
        'h-9 w-full rounded-lg border border-muted bg-raised px-2.5 text-sm pointer-coarse:h-11 ' +
        'pointer-coarse:text-base'
      }
      onChange={(event) => setText(event.target.value)}
      onBlur={({ relatedTarget }) => end(text, relatedTarget !== null)}
      onKeyDown={(event) => {
        if (isComposing(event.nativeEvent)) return
        if (event.key === 'Enter') end(text)
        if (event.key === 'Escape') end(undefined)
        if (event.key === 'Enter' || event.key === 'Escape') event.preventDefault()
        event.stopPropagation()
      }}
    />
  )
}

/** A text with a highlighted range. */
function HighlightedText({ text, place }: { readonly text: string; readonly place: TextRange | undefined }): ReactNode {
  if (place === undefined) return text
  return (
    <>
      {text.slice(0, place.start)}
      <mark className="rounded-sm bg-warn-soft font-semibold text-ink">{text.slice(place.start, place.end)}</mark>
      {text.slice(place.end)}
    </>
  )
}

import { memo, type ReactNode } from 'react'
import type { ModelOffer } from '../../src/http/page-api.ts'
import { Icon } from '../ui/icon.tsx'
import { formatContext, formatPrice, otherInputs, spokenPrice, takesImages } from './describe-model.ts'
import type { PickerRow } from './picker-rows.ts'

/** What {@link PickerOption} shows. What is pressed on it is told by `data-act`, to the list. */
export interface PickerOptionProps {
  readonly id: string
  /** Place among the rows. */
  readonly index: number
  readonly row: PickerRow
  /** Enter would choose it. */
  readonly isActive: boolean
  /** It is the model in use. */
  readonly isCurrent: boolean
  readonly isFavourite: boolean
}

/** One row of the picker. Its star and its arrow are for pointers; keys do the same. */
export const PickerOption = memo(function PickerOption({
  id,
  index,
  row,
  isActive,
  isCurrent,
  isFavourite,
}: PickerOptionProps): ReactNode {
  const look = isActive ? 'bg-hover outline-2 -outline-offset-2 outline-accent' : 'hover:bg-hover'
  return (
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      data-index={index}
      className={`flex cursor-pointer items-stretch rounded-lg [contain-intrinsic-size:auto_3rem] [content-visibility:auto] ${look}`}
    >
      {row.kind === 'model' ? <ModelRow row={row} isCurrent={isCurrent} isFavourite={isFavourite} /> : null}
      {row.kind === 'pin' ? <PinRow row={row} isCurrent={isCurrent} /> : null}
      {row.kind === 'typed' ? <TypedRow name={row.name} /> : null}
    </div>
  )
})

const side = 'flex w-9 shrink-0 items-center justify-center rounded-lg pointer-coarse:w-11'

function ModelRow({
  row,
  isCurrent,
  isFavourite,
}: {
  readonly row: Extract<PickerRow, { kind: 'model' }>
  readonly isCurrent: boolean
  readonly isFavourite: boolean
}): ReactNode {
  const { entry, isExpanded } = row
  const [first] = entry.offers,
    others = otherInputs(entry)
  return (
    <>
      <span
        data-act="favourite"
        aria-hidden="true"
        className={`${side} ${isFavourite ? 'text-warn' : 'text-muted hover:text-ink'}`}
      >
        <Icon name="star" className={isFavourite ? 'size-4 fill-current' : 'size-4'} />
      </span>
      <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 py-1.5 max-sm:py-2">
        <span className="min-w-0 flex-1 basis-56">
          <ModelName name={entry.name} isCurrent={isCurrent} />
          {isFavourite ? <span className="sr-only">, favourite</span> : null}
          <span className="block text-xs text-muted [overflow-wrap:anywhere]">
            <Servers names={entry.offers.map(({ provider }) => provider)} />
            {others.length === 0 ? null : (
              <>
                <span aria-hidden="true"> · </span>
                <span className="sr-only">, </span>takes {others.join(', ')}
              </>
            )}
          </span>
        </span>
        {first === undefined ? null : <Facts offer={first} hasImages={takesImages(entry)} />}
      </span>
      <span data-act="expand" aria-hidden="true" className={`${side} text-muted hover:text-ink`}>
        <Icon name="chevron" className={isExpanded ? 'size-4' : 'size-4 -rotate-90'} />
      </span>
      {isExpanded ? <span className="sr-only">, providers shown below</span> : null}
    </>
  )
}

function PinRow({
  row,
  isCurrent,
}: {
  readonly row: Extract<PickerRow, { kind: 'pin' }>
  readonly isCurrent: boolean
}): ReactNode {
  const { name, offer } = row
  return (
    <>
      <span aria-hidden="true" className={`${side} text-muted`}>
        <Icon name="pin" className="size-4" />
      </span>
      <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 py-1.5 pr-9 max-sm:py-2 pointer-coarse:pr-11">
        <span className="min-w-0 flex-1 basis-56">
          <ModelName name={name} isCurrent={isCurrent} />
          <span className="block text-xs text-muted [overflow-wrap:anywhere]">
            only {offer.provider}, as {offer.upstream}
          </span>
        </span>
        <Facts offer={offer} hasImages={offer.input?.includes('image') === true} />
      </span>
    </>
  )
}

function TypedRow({ name }: { readonly name: string }): ReactNode {
  return (
    <>
      <span aria-hidden="true" className={`${side} text-muted`}>
        <Icon name="send" className="size-4 rotate-90" />
      </span>
      <span className="min-w-0 flex-1 py-1.5 pr-3 text-sm max-sm:py-2 [overflow-wrap:anywhere]">
        Ask for “{name}” anyway
        <span className="block text-xs text-muted">A provider may serve more models than it lists</span>
      </span>
    </>
  )
}

function ModelName({ name, isCurrent }: { readonly name: string; readonly isCurrent: boolean }): ReactNode {
  return (
    <span className="flex items-center gap-1.5 text-sm font-medium">
      <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
      {isCurrent ? (
        <>
          <Icon name="check" className="size-4 text-accent" />
          <span className="sr-only">, in use</span>
        </>
      ) : null}
    </span>
  )
}

function Servers({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <>
      <span className="sr-only">, served by </span>
      {names.map((name, index) => (
        <span key={name}>
          {index === 0 ? null : (
            <>
              <span aria-hidden="true"> → </span>
              <span className="sr-only">, then </span>
            </>
          )}
          {name}
        </span>
      ))}
    </>
  )
}

/** Pictures, context, price: in columns, so that rows can be compared. */
function Facts({
  offer: { context, price },
  hasImages,
}: {
  readonly offer: ModelOffer
  readonly hasImages: boolean
}): ReactNode {
  return (
    <span className="flex shrink-0 items-center gap-3 text-xs text-muted tabular-nums max-sm:basis-full">
      <span className="empty:hidden sm:w-5 sm:empty:block" title={hasImages ? 'Takes pictures' : undefined}>
        {hasImages ? (
          <>
            <Icon name="image" className="size-4" />
            <span className="sr-only">, takes pictures</span>
          </>
        ) : null}
      </span>
      <span
        className="empty:hidden sm:w-11 sm:text-right sm:empty:block"
        title={context === undefined ? undefined : `Context of ${context} tokens`}
      >
        {context === undefined ? null : (
          <>
            <span className="sr-only">, context </span>
            {formatContext(context)}
          </>
        )}
      </span>
      <span
        className="empty:hidden sm:min-w-26 sm:text-right sm:empty:block"
        title={price === undefined ? undefined : spokenPrice(price)}
      >
        {price === undefined ? null : (
          <>
            <span aria-hidden="true">{formatPrice(price)}</span>
            <span className="sr-only">, {spokenPrice(price)}</span>
          </>
        )}
      </span>
    </span>
  )
}

import { memo, type ReactNode } from 'react'
import type { ModelEntry } from '../../src/http/page/page-api.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { formatContext, otherInputs, priceRange, takesImages, type PriceText } from './describe-model.ts'
import { FactBadge } from './model-badge.tsx'
import type { ModelBadge } from './model-facts.ts'
import type { PickerRow } from './picker-rows.ts'

export interface PickerOptionProps {
  readonly id: string
  /** Index of the row. */
  readonly index: number
  readonly row: PickerRow
  readonly badgesOf: (model: ModelEntry) => readonly ModelBadge[]
  /** Enter selects this row. */
  readonly isActive: boolean
  /** It is the selected model. */
  readonly isCurrent: boolean
  readonly isFavourite: boolean
}

/** A row of the picker. Star and arrow are for pointers; keys do the same. */
export const PickerOption = memo(function PickerOption({
  id,
  index,
  row,
  badgesOf,
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
      className={
        'flex cursor-pointer items-stretch rounded-lg [contain-intrinsic-size:auto_3rem] [content-visibility:auto] ' +
        look
      }
    >
      {row.kind === 'model' ? <ModelRow {...{ row, badgesOf, isCurrent, isFavourite }} /> : null}
      {row.kind === 'pin' ? <PinRow row={row} isCurrent={isCurrent} /> : null}
      {row.kind === 'typed' ? <TypedRow name={row.name} /> : null}
    </div>
  )
})

const side = 'flex w-9 shrink-0 items-center justify-center rounded-lg pointer-coarse:w-11'

function ModelRow({
  row,
  badgesOf,
  isCurrent,
  isFavourite,
}: Pick<PickerOptionProps, 'badgesOf' | 'isCurrent' | 'isFavourite'> & {
  readonly row: Extract<PickerRow, { kind: 'model' }>
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
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <ModelName name={entry.name} isCurrent={isCurrent} />
            {badgesOf(entry).map((fact) => (
              <span key={fact}>
                <span className="sr-only">, </span>
                <FactBadge fact={fact} />
              </span>
            ))}
          </span>
          {isFavourite ? <span className="sr-only">{say.models.isFavourite}</span> : null}
          <span className="block text-xs text-muted [overflow-wrap:anywhere]">
            <Servers names={entry.offers.map(({ provider }) => provider)} />
            {others.length === 0 ? null : (
              <>
                <span aria-hidden="true"> · </span>
                <span className="sr-only">, </span>
                {say.models.takes(others.join(', '))}
              </>
            )}
          </span>
        </span>
        {first === undefined ? null : (
          <Facts context={first.context} price={priceRange(entry)} hasImages={takesImages(entry)} />
        )}
      </span>
      <span data-act="expand" aria-hidden="true" className={`${side} text-muted hover:text-ink`}>
        <Icon name="chevron" className={isExpanded ? 'size-4' : 'size-4 -rotate-90'} />
      </span>
      {isExpanded ? <span className="sr-only">{say.models.providersBelow}</span> : null}
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
            {say.models.as(offer.provider, offer.upstream)}
          </span>
        </span>
        <Facts
          context={offer.context}
          price={priceRange({ offers: [offer] })}
          hasImages={offer.input?.includes('image') === true}
        />
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
        {rich(say.models.askAnyway, { name })}
        <span className="block text-xs text-muted">{say.models.mayServeMore}</span>
      </span>
    </>
  )
}

function ModelName({ name, isCurrent }: { readonly name: string; readonly isCurrent: boolean }): ReactNode {
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-sm font-medium">
      <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
      {isCurrent ? (
        <>
          <Icon name="check" className="size-4 text-accent" />
          <span className="sr-only">{say.models.inUse}</span>
        </>
      ) : null}
    </span>
  )
}

function Servers({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <>
      <span className="sr-only">{say.models.servedBy}</span>
      {names.map((name, index) => (
        <span key={name}>
          {index === 0 ? null : (
            <>
              <span aria-hidden="true"> → </span>
              <span className="sr-only">{say.models.thenNext}</span>
            </>
          )}
          {name}
        </span>
      ))}
    </>
  )
}

interface FactsProps {
  readonly context: number | undefined
  readonly price: PriceText | undefined
  readonly hasImages: boolean
}

/** Images, context and price in aligned columns, for comparison. */
function Facts({ context, price, hasImages }: FactsProps): ReactNode {
  return (
    <span className="flex shrink-0 items-center gap-3 text-xs text-muted tabular-nums max-sm:basis-full">
      <span className="empty:hidden sm:w-5 sm:empty:block" title={hasImages ? say.models.takesPictures : undefined}>
        {hasImages ? (
          <>
            <Icon name="image" className="size-4" />
            <span className="sr-only">{say.models.takesPicturesToo}</span>
          </>
        ) : null}
      </span>
      <span
        className="empty:hidden sm:w-11 sm:text-right sm:empty:block"
        title={context === undefined ? undefined : say.models.contextOf(formatCount(context))}
      >
        {context === undefined ? null : (
          <>
            <span className="sr-only">{say.models.contextBefore}</span>
            {formatContext(context)}
          </>
        )}
      </span>
      <span className="empty:hidden sm:min-w-26 sm:text-right sm:empty:block" title={price?.spoken}>
        {price === undefined ? null : (
          <>
            <span aria-hidden="true">{price.text}</span>
            <span className="sr-only">, {price.spoken}</span>
          </>
        )}
      </span>
    </span>
  )
}

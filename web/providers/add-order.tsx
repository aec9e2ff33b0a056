import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'

/** The order with the new provider at its place, which is chosen here. */
export function AddOrder({
  order,
  name,
  place,
  onMove,
}: {
  /** Ids of the providers that are there. */
  readonly order: readonly string[]
  readonly name: string
  /** Of the new one, from 0. */
  readonly place: number
  readonly onMove: (place: number) => void
}): ReactNode {
  const ids = [...order.slice(0, place), undefined, ...order.slice(place)]
  const move = (to: number): void => (to < 0 || to > order.length ? undefined : onMove(to))
  return (
    <section className="flex flex-col gap-3 rounded-xl border border-line bg-raised p-4 text-sm">
      <h2 className="font-semibold">{say.providers.order}</h2>
      <ol role="list">
        {ids.map((id, index) => (
          <li
            key={id ?? ''}
            className={
              'relative flex min-h-9 items-center gap-2.5 not-first:before:absolute not-first:before:-top-2 ' +
              'not-first:before:left-3 not-first:before:h-4 not-first:before:border-l not-first:before:border-edge'
            }
          >
            <span
              className={
                'grid size-6 shrink-0 place-items-center rounded-full border text-xs font-semibold tabular-nums ' +
                (id === undefined ? 'border-accent bg-accent-soft text-accent' : 'border-edge')
              }
            >
              {index + 1}
            </span>
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              {id ?? (
                <>
                  <b className="font-semibold">{name}</b> {say.providers.isNew}
                </>
              )}
            </span>
            {id === undefined && order.length > 0 ? (
              <span className="flex">
                <IconButton
                  label={say.providers.earlier}
                  icon="up"
                  className="aria-disabled:opacity-40"
                  aria-disabled={place === 0}
                  onClick={() => move(place - 1)}
                />
                <IconButton
                  label={say.providers.later}
                  icon="down"
                  className="aria-disabled:opacity-40"
                  aria-disabled={place === order.length}
                  onClick={() => move(place + 1)}
                />
              </span>
            ) : null}
          </li>
        ))}
      </ol>
    </section>
  )
}

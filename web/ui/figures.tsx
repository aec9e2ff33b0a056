import type { ReactNode } from 'react'

/** A few figures in a line. */
export function Figures({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <dl className="flex gap-x-10 gap-y-3 max-sm:grid max-sm:grid-cols-[repeat(4,auto)] max-sm:gap-x-3">{children}</dl>
  )
}

export interface FigureProps {
  readonly name: string
  /** Absent: there is none. */
  readonly value: string | undefined
  /** What the value is made of or compared with. On a phone only for screen readers. */
  readonly more: string
}

/** A figure, its name below it, and more about it. */
export function Figure({ name, value, more }: FigureProps): ReactNode {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="order-2 text-xs">{name}</dt>
      <dd className="order-1 font-semibold tabular-nums sm:text-xl">{value ?? '–'}</dd>
      <dd className="order-3 max-w-64 text-xs text-muted tabular-nums max-sm:sr-only">{more}</dd>
    </div>
  )
}

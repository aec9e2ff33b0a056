import type { ReactNode } from 'react'
import { useLate } from '../ui/use-late.ts'

/** It is said in words when it takes longer than this. */
const patienceMs = 2_000

/** Stands where an answer will be. */
export function Waiting(): ReactNode {
  const isLong = useLate(patienceMs)
  return (
    <p className="flex min-h-6 items-center gap-2 text-sm text-muted">
      <span aria-hidden="true" className="size-2.5 animate-pulse rounded-full bg-accent" />
      {isLong ? 'Waiting for an answer…' : null}
    </p>
  )
}

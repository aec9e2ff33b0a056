import type { ReactNode } from 'react'

const tones = {
  plain: 'bg-hover',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
} as const

/** A short fact in a coloured box. The words say it without the colour. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: keyof typeof tones
  readonly children: ReactNode
}): ReactNode {
  return (
    <span
      className={
        'inline-flex shrink-0 items-center gap-1 rounded-md border border-transparent px-2 py-0.5 text-xs ' +
        `font-medium whitespace-nowrap ${tones[tone]}`
      }
    >
      {children}
    </span>
  )
}

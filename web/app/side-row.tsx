import type { ReactNode } from 'react'
import { Icon, type IconName } from '../ui/icon.tsx'

/** The look of a row of a sidebar. */
export const sideRow =
  'flex min-h-9 w-full items-center gap-2.5 rounded-lg border border-transparent px-2 text-start text-sm ' +
  'hover:bg-hover aria-[current]:bg-hover aria-[current]:font-medium pointer-coarse:min-h-11'

/** A link in a sidebar. */
export function SideRow({
  href,
  icon,
  label,
  title,
  isCurrent = false,
  children,
}: {
  readonly href: string
  readonly icon: IconName
  readonly label: string
  /** When the label alone is too short. */
  readonly title?: string
  readonly isCurrent?: boolean
  /** At the right: a key or a badge. */
  readonly children?: ReactNode
}): ReactNode {
  return (
    <a href={href} title={title} aria-current={isCurrent ? 'page' : undefined} className={sideRow}>
      <Icon name={icon} className="size-4 text-muted" />
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {children}
    </a>
  )
}

/** A key at the right of a row. Screen readers find it in the list of keys. */
export function KeyHint({ keys }: { readonly keys: string }): ReactNode {
  return (
    <span aria-hidden="true" className="text-xs whitespace-nowrap text-muted pointer-coarse:hidden">
      {keys}
    </span>
  )
}

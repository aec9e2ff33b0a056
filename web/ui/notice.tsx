import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

const styles = {
  info: { box: 'border-line bg-panel', mark: 'text-accent', icon: 'info' },
  warn: { box: 'border-line bg-warn-soft', mark: 'text-warn', icon: 'warn' },
  error: { box: 'border-bad/50', mark: 'text-bad', icon: 'warn' },
} as const

export interface NoticeProps {
  readonly kind: keyof typeof styles
  /** What happened, in one sentence. */
  readonly title: string
  /** Reason, and what to do. */
  readonly children?: ReactNode
  /** Buttons. */
  readonly actions?: ReactNode
}

/** A message in the page. Screen readers read an error when it appears. */
export function Notice({ kind, title, children, actions }: NoticeProps): ReactNode {
  const { box, mark, icon } = styles[kind]
  return (
    <div role={kind === 'error' ? 'alert' : undefined} className={`flex gap-3 rounded-xl border p-3 ${box}`}>
      <span className={`mt-0.5 ${mark}`}>
        <Icon name={icon} />
      </span>
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className="font-medium">{title}</p>
        {children === undefined ? null : <div className="mt-1 text-sm">{children}</div>}
        {actions === undefined ? null : <div className="mt-2 flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  )
}

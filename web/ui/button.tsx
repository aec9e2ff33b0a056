import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { Icon, type IconName } from './icon.tsx'

const styles = {
  primary: 'border border-transparent bg-ink text-page hover:opacity-90',
  plain: 'border border-line bg-raised hover:bg-hover',
  quiet: 'text-muted hover:bg-hover hover:text-ink',
  danger: 'border border-line bg-raised text-bad hover:bg-bad-soft',
} as const

/** The look of a button. */
export type ButtonVariant = keyof typeof styles

const common =
  'inline-flex items-center justify-center gap-2 rounded-lg font-medium transition-colors ' +
  'disabled:opacity-50 pointer-coarse:min-h-11'

type Attributes = ButtonHTMLAttributes<HTMLButtonElement> & { readonly ref?: Ref<HTMLButtonElement> }

/** A button with text. */
export function Button({
  variant = 'plain',
  icon,
  className = '',
  children,
  ...rest
}: Attributes & { readonly variant?: ButtonVariant; readonly icon?: IconName }): ReactNode {
  return (
    <button type="button" className={`${common} min-h-9 px-3 py-1.5 text-sm ${styles[variant]} ${className}`} {...rest}>
      {icon === undefined ? null : <Icon name={icon} className="size-4" />}
      {children}
    </button>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  href,
  variant = 'plain',
  className = '',
  children,
}: {
  readonly href: string
  readonly variant?: ButtonVariant
  readonly className?: string
  readonly children: ReactNode
}): ReactNode {
  return (
    <a href={href} className={`${common} min-h-9 px-3 py-1.5 text-sm ${styles[variant]} ${className}`}>
      {children}
    </a>
  )
}

/** A button with an icon only. Its label is read by screen readers, and shown as a tooltip. */
export function IconButton({
  label,
  icon,
  variant = 'quiet',
  className = '',
  ...rest
}: Attributes & { readonly label: string; readonly icon: IconName; readonly variant?: ButtonVariant }): ReactNode {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`${common} size-9 pointer-coarse:min-w-11 ${styles[variant]} ${className}`}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  )
}

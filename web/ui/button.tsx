import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { Icon, type IconName } from './icon.tsx'

const styles = {
  primary: 'border border-transparent bg-ink text-page hover:opacity-90',
  plain: 'border border-line bg-raised hover:bg-hover',
  quiet: 'border border-transparent text-muted hover:bg-hover hover:text-ink',
  danger: 'border border-line bg-raised text-bad hover:bg-bad-soft',
} as const

/** The look of a button. */
export type ButtonVariant = keyof typeof styles

const common =
  'inline-flex items-center justify-center gap-2 rounded-lg font-medium transition-colors ' +
  'disabled:opacity-50 aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent ' +
  'pointer-coarse:min-h-11'

type Attributes = ButtonHTMLAttributes<HTMLButtonElement> & { readonly ref?: Ref<HTMLButtonElement> }

interface Look {
  readonly variant?: ButtonVariant
  readonly icon?: IconName
  /** Only its icon is seen on a phone. */
  readonly isShort?: boolean
}

/** A button with text. */
export function Button({
  variant = 'plain',
  icon,
  isShort = false,
  className = '',
  children,
  ...rest
}: Attributes & Look): ReactNode {
  return (
    <button type="button" className={`${common} min-h-9 px-3 py-1.5 text-sm ${styles[variant]} ${className}`} {...rest}>
      <Content icon={icon} isShort={isShort}>
        {children}
      </Content>
    </button>
  )
}

function Content({
  icon,
  isShort,
  children,
}: {
  readonly icon: IconName | undefined
  readonly isShort: boolean
  readonly children: ReactNode
}): ReactNode {
  return (
    <>
      {icon === undefined ? null : <Icon name={icon} className="size-4" />}
      {isShort ? <span className="max-sm:sr-only">{children}</span> : children}
    </>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  href,
  variant = 'plain',
  icon,
  isShort = false,
  className = '',
  children,
}: Look & {
  readonly href: string
  readonly className?: string
  readonly children: ReactNode
}): ReactNode {
  return (
    <a href={href} className={`${common} min-h-9 px-3 py-1.5 text-sm ${styles[variant]} ${className}`}>
      <Content icon={icon} isShort={isShort}>
        {children}
      </Content>
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

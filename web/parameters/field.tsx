import type { ReactNode } from 'react'

/** What {@link Field} shows. */
export interface FieldProps {
  /** Of the input: the others hang on it (see {@link describedBy}). */
  readonly id: string
  readonly label: string
  readonly explanation: string
  /** Why what stands in it is not sent. */
  readonly fault?: string | undefined
  /** What to know of what stands in it, although it is sent. */
  readonly hint?: string | undefined
  readonly children: ReactNode
  /** Beside the label. */
  readonly action?: ReactNode
}

/** An input with its label above it, and what it does, or what is wrong with it, below. */
export function Field({ id, label, explanation, fault, hint, children, action }: FieldProps): ReactNode {
  return (
    <div className="flex flex-col gap-1">
      <div className="flex min-h-9 items-center justify-between gap-2">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {action}
      </div>
      {children}
      <p id={`${id}-explanation`} className="text-xs text-muted">
        {explanation}
      </p>
      {hint === undefined ? null : (
        <p id={`${id}-hint`} className="text-xs text-warn">
          {hint}
        </p>
      )}
      <p id={`${id}-fault`} role="alert" className="text-xs text-bad empty:hidden">
        {fault}
      </p>
    </div>
  )
}

/** Attributes that tie what stands around an input to it. */
export function describedBy({ id, fault, hint }: Pick<FieldProps, 'id' | 'fault' | 'hint'>): {
  readonly 'aria-describedby': string
  readonly 'aria-invalid': boolean
} {
  const ids = [
    `${id}-explanation`,
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(fault === undefined ? [] : [`${id}-fault`]),
  ]
  return { 'aria-describedby': ids.join(' '), 'aria-invalid': fault !== undefined }
}

/** How something to type into looks, of any height. */
export const boxLook =
  'rounded-lg border border-muted bg-raised px-2.5 text-sm text-ink max-sm:text-base aria-invalid:border-bad'

/** The same, of one line. */
export const inputLook = `${boxLook} min-h-9 pointer-coarse:min-h-11`

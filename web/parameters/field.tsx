import type { ReactNode } from 'react'

export interface FieldProps {
  /** Id of the input. Other ids derive from it (see {@link describedBy}). */
  readonly id: string
  readonly label: string
  readonly explanation: string
  /** Why the value is not sent. */
  readonly fault?: string | undefined
  /** A remark about a value that is sent. */
  readonly hint?: string | undefined
  readonly children: ReactNode
  /** Content beside the label. */
  readonly action?: ReactNode
}

/** An input with its label above, and its explanation or fault below. */
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

/** Attributes that connect an input with its explanation, fault and hint. */
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

/** Classes of a text field of any height. */
export const boxStyle =
  'rounded-lg border border-muted bg-raised px-2.5 text-sm text-ink max-sm:text-base aria-invalid:border-bad'

/** Classes of a text field of one line. */
export const inputStyle = `${boxStyle} min-h-9 pointer-coarse:min-h-11`

import type { ReactNode } from 'react'

/** The mark of svc: a line that hops over a failed point to the next one. Decorative. */
export function Mark({ className = 'size-5' }: { readonly className?: string }): ReactNode {
  return (
    <svg
      className={`shrink-0 ${className}`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M4 16C5.5 4.5 18.5 4.5 20 16" />
      <circle cx="4" cy="17" r="2" fill="currentColor" />
      <circle cx="12" cy="17" r="2" className="stroke-muted" />
      <circle cx="20" cy="17" r="2" className="fill-accent stroke-accent" />
    </svg>
  )
}

import type { ReactNode } from 'react'

export interface SwitchProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly isDisabled?: boolean
  /** Shows no label; screen readers still read it. */
  readonly hidesLabel?: boolean
}

/** An on/off switch. */
export function Switch({ label, isOn, onChange, isDisabled = false, hidesLabel = false }: SwitchProps): ReactNode {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={hidesLabel ? label : undefined}
      title={hidesLabel ? label : undefined}
      disabled={isDisabled}
      onClick={() => onChange(!isOn)}
      className="inline-flex min-h-9 items-center gap-2 rounded-lg text-sm disabled:opacity-60 pointer-coarse:min-h-11"
    >
      <span
        className={
          'relative inline-block h-6 w-10 rounded-full border transition-colors ' +
          (isOn ? 'border-ink bg-ink' : 'border-edge bg-raised')
        }
      >
        <span
          className={
            'absolute top-0.5 size-[1.125rem] rounded-full transition-[left] ' +
            (isOn ? 'left-[1.125rem] bg-page' : 'left-0.5 bg-edge')
          }
        />
      </span>
      {hidesLabel ? null : <span>{label}</span>}
    </button>
  )
}

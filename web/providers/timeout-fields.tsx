import { useState, type ReactNode } from 'react'
import type { ProviderTimeouts } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { fieldLook, plainText } from './form-fields.tsx'
import { timeoutNames, type TypedTimeouts } from './timeouts.ts'

/** Props of {@link TimeoutFields}. */
interface TimeoutFieldsProps {
  /** Of the first field. */
  readonly id: string
  readonly typed: TypedTimeouts
  readonly defaults: Required<ProviderTimeouts>
  readonly fault: string | undefined
  readonly onChange: (typed: TypedTimeouts) => void
}

/** What few entries need: the times after which the next provider is tried. Open if one of them is set. */
export function TimeoutFields({ id, typed, defaults, fault, onChange }: TimeoutFieldsProps): ReactNode {
  const [isOpen, setOpen] = useState(() => timeoutNames.some((name) => typed[name] !== ''))
  return (
    <details
      open={isOpen || fault !== undefined}
      className="min-w-0"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="w-fit rounded-md text-sm font-medium pointer-coarse:py-2.5">
        {say.parameters.advanced}
      </summary>
      <fieldset className="mt-2 flex min-w-0 flex-col gap-2">
        <legend className="mb-2 text-sm text-muted">{say.providers.timeoutsHint}</legend>
        <div className="grid gap-3 sm:grid-cols-2">
          {timeoutNames.map((name, index) => (
            <label key={name} className="flex min-w-0 flex-col gap-1 text-sm">
              {say.providers.timeouts[name]}
              <input
                {...plainText}
                id={index === 0 ? id : undefined}
                inputMode="numeric"
                placeholder={String(defaults[name])}
                value={typed[name]}
                className={fieldLook}
                aria-invalid={fault !== undefined}
                onChange={({ target }) => onChange({ ...typed, [name]: target.value })}
              />
            </label>
          ))}
        </div>
        <p role="alert" className="text-sm text-bad empty:hidden">
          {fault}
        </p>
      </fieldset>
    </details>
  )
}

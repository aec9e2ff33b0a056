import { useState, type ReactNode } from 'react'
import type { ProviderLook, ProviderTimeouts } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatMs } from '../ui/format.ts'
import { describeLacks } from './describe-provider.ts'
import { OwnWords } from './own-words.tsx'
import { timeoutNames, type TypedTimeouts } from './timeouts.ts'

// Parts of the forms that add and change a provider.

export const fieldLook =
  'min-h-9 w-full rounded-lg border border-muted bg-page px-2 text-base pointer-coarse:min-h-11 aria-invalid:border-bad'

/** Attributes of fields for names and addresses. */
export const plainText = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const

/** A field with its label, and below it a fault or an explanation. */
export function Labelled({
  id,
  label,
  about,
  fault,
  children,
}: {
  readonly id: string
  readonly label: string
  readonly about?: string
  readonly fault?: string | undefined
  readonly children: ReactNode
}): ReactNode {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children}
      <p id={`${id}-about`} className="text-sm [overflow-wrap:anywhere] text-muted">
        {fault === undefined ? about : <span className="text-bad">{fault}</span>}
      </p>
    </div>
  )
}

/** The outcome of a test. */
export function LookResult({ looked }: { readonly looked: ProviderLook | 'running' | undefined }): ReactNode {
  if (looked === undefined) return null
  if (looked === 'running') return <p className="text-sm text-muted">{say.providers.askingForModels}</p>
  if (looked.lacks !== undefined) return null
  const isFound = looked.models !== undefined
  return (
    <p className={`text-sm [overflow-wrap:anywhere] ${isFound ? 'text-ok' : 'text-bad'}`}>
      {lookWords(looked)}
      <OwnWords detail={looked.detail} />
    </p>
  )
}

/** The outcome of a test in words. */
export function lookWords({ ms, models, modelCount = 0, lacks, detail }: ProviderLook): string {
  if (lacks !== undefined) return describeLacks(lacks)
  if (models === undefined)
    return detail === undefined ? say.providers.noAnswer(formatMs(ms)) : say.providers.noList(formatMs(ms))
  return say.providers.lists(modelCount, formatMs(ms))
}

/** What few entries need: the times after which the next provider is tried. Open if one of them is set. */
export function TimeoutFields({
  id,
  typed,
  defaults,
  fault,
  onChange,
}: {
  /** Of the first field. */
  readonly id: string
  readonly typed: TypedTimeouts
  readonly defaults: Required<ProviderTimeouts>
  readonly fault: string | undefined
  readonly onChange: (typed: TypedTimeouts) => void
}): ReactNode {
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

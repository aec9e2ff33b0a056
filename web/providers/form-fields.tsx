import type { ReactNode } from 'react'
import type { ProviderLook, ProviderTimeouts } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatMs } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { describeLacks } from './describe-provider.ts'
import { OwnWords } from './own-words.tsx'
import { timeoutNames, type TypedTimeouts } from './timeouts.ts'

// Parts of the forms that add and change a provider.

export const fieldLook =
  'min-h-9 w-full rounded-lg border border-edge bg-raised ' +
  'px-3 text-base pointer-coarse:min-h-11 aria-invalid:border-bad'

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
  const isFound = looked.models !== undefined
  return (
    <div
      className={'flex gap-3 rounded-xl border border-transparent bg-panel px-4 py-3 text-sm [overflow-wrap:anywhere]'}
    >
      <Icon name={isFound ? 'check' : 'warn'} className={`mt-0.5 size-4 ${isFound ? 'text-ok' : 'text-bad'}`} />
      <div className="min-w-0">
        <p className="font-semibold">{lookWords(looked)}</p>
        {isFound ? <p className="text-muted">{modelsFound(looked)}</p> : <OwnWords detail={looked.detail} />}
      </div>
    </div>
  )
}

/** The outcome of a test in words. */
export function lookWords({ ms, models, lacks, detail, status }: ProviderLook): string {
  if (lacks !== undefined) return say.providers.nothingAsked(describeLacks(lacks))
  if (models !== undefined) return say.providers.answersIn(formatMs(ms))
  if (status === 401 || status === 403) return say.providers.keyRefused(status)
  return detail === undefined ? say.providers.noAnswer(formatMs(ms)) : say.providers.noList(formatMs(ms))
}

/** `11 models, 9 of them with a price.` */
export function modelsFound({ modelCount = 0, pricedCount = 0 }: ProviderLook): string {
  return say.providers.modelsFound(modelCount, pricedCount)
}

/** What few entries need: the times after which the next provider is tried. */
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
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
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
  )
}

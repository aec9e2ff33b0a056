import type { ReactNode } from 'react'
import type { ProviderLook } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatMs } from '../ui/format.ts'
import { describeLacks } from './describe-provider.ts'
import { OwnWords } from './own-words.tsx'

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

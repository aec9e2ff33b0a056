import type { ProviderTimeouts } from '../../src/http/page/page-api.ts'
import { formatCount } from '../texts/locale.ts'
import { say } from '../texts/say.ts'

export const timeoutNames = ['connectMs', 'firstTokenMs', 'idleMs', 'attemptMs'] as const

/** Times as they are typed, in milliseconds. Empty: the default. */
export type TypedTimeouts = Readonly<Record<(typeof timeoutNames)[number], string>>

export const noTimeouts: TypedTimeouts = { connectMs: '', firstTokenMs: '', idleMs: '', attemptMs: '' }

const msMax = 86_400_000

export function typedTimeouts(timeouts: ProviderTimeouts): TypedTimeouts {
  const typed = { ...noTimeouts }
  for (const name of timeoutNames) typed[name] = timeouts[name]?.toString() ?? ''
  return typed
}

/** The times that are typed. What is no number is left out: see {@link timeoutsFault}. */
export function timeoutsOf(typed: TypedTimeouts): ProviderTimeouts {
  return Object.fromEntries(
    timeoutNames
      .map((name) => [name, typed[name].trim()] as const)
      .flatMap(([name, text]) => (isMs(text) ? [[name, Number(text)]] : [])),
  )
}

/** What is wrong with the times; `undefined`: nothing. */
export function timeoutsFault(typed: TypedTimeouts): string | undefined {
  const isSound = timeoutNames.every((name) => typed[name].trim() === '' || isMs(typed[name].trim()))
  return isSound ? undefined : say.providers.faults.timeouts(formatCount(msMax))
}

function isMs(text: string): boolean {
  return /^\d{1,8}$/.test(text) && Number(text) >= 1 && Number(text) <= msMax
}

export function isSameTimeouts(some: ProviderTimeouts, others: ProviderTimeouts): boolean {
  return timeoutNames.every((name) => some[name] === others[name])
}

import type { TargetProfile, SamplingRule } from '../../profiles/profile.ts'
import { listOf, numberOf } from '../exact-json.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'

/** Sampling and stop sequences that the target refuses are left out; numbers beyond its range are moved into it. */
export function fitSampling(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  for (const [name, rule] of Object.entries(profile.sampling)) fitNumber(draft, name, rule, changes)
  fitStops(draft, profile.stops, changes)
  for (const [name, value] of Object.entries(profile.add)) if (!draft.has(name)) draft.set(name, value)
}

function fitNumber(draft: RequestDraft, name: string, rule: SamplingRule, changes: ChangeNotes | undefined): void {
  if (rule === 'refused') {
    if (draft.remove(name)) changes?.drop(name)
    return
  }
  const value = numberOf(draft.get(name))
  if (value === undefined) return
  const [min, max] = rule
  const fitting = Math.min(max, Math.max(min, value))
  if (fitting === value) return
  draft.set(name, fitting)
  changes?.adjust(name)
}

function fitStops(draft: RequestDraft, most: number, changes: ChangeNotes | undefined): void {
  if (most === Infinity) return
  const stop = draft.get('stop')
  const stops = typeof stop === 'string' ? [stop] : listOf(stop)
  if (stops.length <= most) return
  if (most === 0) draft.remove('stop')
  else draft.set('stop', stops.slice(0, most))
  changes?.drop('stop')
}

import type { TargetProfile } from '../../profiles/profile.ts'
import { listOf } from '../exact-json.ts'
import { fitLimit, fitNumber } from '../fit-number.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'

/** Sampling and stop sequences that the target refuses are left out; numbers beyond its range are moved into it. */
export function fitSampling(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  for (const [name, rule] of Object.entries(profile.sampling)) fitNumber(draft, name, rule, changes)
  for (const name of ['max_tokens', 'max_completion_tokens']) fitLimit(draft, name, profile, changes)
  fitStops(draft, profile.stops, changes)
  for (const [name, value] of Object.entries(profile.add)) if (!draft.has(name)) draft.set(name, value)
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

import type { TargetProfile } from '../profiles/profile.ts'
import { anyTarget } from '../profiles/resolve-profile.ts'
import type { Ask } from './ask.ts'
import type { ChangeNotes } from './format.ts'
import { RequestDraft } from './request-draft.ts'

/** Changes one part of a request where the profile deviates and the request has the thing. */
export type FitStep = (draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined) => void

interface FitOptions {
  readonly profile: TargetProfile
  readonly changes: ChangeNotes | undefined
}

/**
 * Takes the steps in their order: each sees the changes of those before.
 *
 * @returns the body in the form that the target takes; members that stay keep their bytes. Undefined: nothing changes
 */
export function fittedBody(
  ask: Ask,
  steps: readonly FitStep[],
  { profile, changes }: FitOptions,
): Uint8Array | undefined {
  if (profile === anyTarget) return undefined
  const draft = new RequestDraft(ask)
  for (const step of steps) step(draft, profile, changes)
  return draft.isChanged ? draft.body() : undefined
}

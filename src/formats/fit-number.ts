import type { SamplingRule, TargetProfile } from '../profiles/profile.ts'
import { numberOf } from './exact-json.ts'
import type { ChangeNotes } from './format.ts'
import type { RequestDraft } from './request-draft.ts'

/** A number of sampling: left out where it is refused, or moved into the range that the target takes. */
export function fitNumber(
  draft: RequestDraft,
  name: string,
  rule: SamplingRule,
  changes: ChangeNotes | undefined,
): void {
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

/** A limit of the answer's tokens, moved to what the target takes. */
export function fitLimit(
  draft: RequestDraft,
  name: string,
  { minTokens, maxTokens }: TargetProfile,
  changes: ChangeNotes | undefined,
): void {
  if (minTokens !== -Infinity || maxTokens !== Infinity) fitNumber(draft, name, [minTokens, maxTokens], changes)
}

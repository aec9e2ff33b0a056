import type { JsonObject } from '../base/json-value.ts'
import { type ProfileEffort, profileEfforts, type SamplingRule, type TargetProfile } from '../profiles/profile.ts'
import { anyTarget } from '../profiles/resolve-profile.ts'
import type { Ask } from './ask.ts'
import { numberOf, objectOf, omit, textOf } from './exact-json.ts'
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

/** Places of efforts on a scale. A provider's own default is in its middle. */
const places: ReadonlyMap<ProfileEffort, number> = new Map(
  profileEfforts.filter((effort) => effort !== 'default').map((effort, place) => [effort, place]),
)

function placeOf(effort: ProfileEffort): number {
  return places.get(effort === 'default' ? 'medium' : effort) ?? 0
}

/** The nearest effort that is taken, the higher of two at the same distance. Undefined: none is taken. */
export function nearestEffort(asked: string, taken: readonly ProfileEffort[]): ProfileEffort | undefined {
  const effort = profileEfforts.find((each) => each === asked)
  if (effort === undefined || taken.includes(effort)) return effort
  const distance = (other: ProfileEffort): number => Math.abs(placeOf(other) - placeOf(effort))
  return taken.toSorted((one, other) => distance(one) - distance(other) || placeOf(other) - placeOf(one))[0]
}

/** The effort in a member such as `reasoning`, as the nearest that the target takes. Without one it is left out. */
export function fitEffortIn(
  draft: RequestDraft,
  member: string,
  { efforts }: TargetProfile,
  changes: ChangeNotes | undefined,
): void {
  if (efforts === undefined) return
  const given = objectOf(draft.get(member))
  const asked = textOf(given['effort'])
  if (asked === undefined) return
  const effort = nearestEffort(asked, efforts)
  if (effort === asked) return
  if (effort === undefined) {
    setOrRemove(draft, member, omit(given, ['effort']))
    changes?.drop(`${member}.effort`)
  } else {
    draft.set(member, { ...given, effort })
    changes?.adjust(`${member}.effort`)
  }
}

/** Sets a member, or removes it if it has become empty. */
export function setOrRemove(draft: RequestDraft, member: string, value: JsonObject): void {
  if (Object.keys(value).length === 0) draft.remove(member)
  else draft.set(member, value)
}

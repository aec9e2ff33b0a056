import type { JsonObject } from '../base/json-value.ts'
import { profileEfforts, type ProfileEffort, type TargetProfile } from '../profiles/profile.ts'
import { objectOf, omit, textOf } from './exact-json.ts'
import type { ChangeNotes } from './format.ts'
import type { RequestDraft } from './request-draft.ts'

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

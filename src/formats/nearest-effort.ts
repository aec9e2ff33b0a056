import { profileEfforts, type ProfileEffort } from '../profiles/profile.ts'

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

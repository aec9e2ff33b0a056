import { knownProfiles, type ProfileEntry } from './known-profiles.ts'
import { profileFields, type TargetProfile } from './profile.ts'

/** A model at a provider, as entries of profiles match it. */
export interface ProfiledTarget {
  /** Id of the provider's brand. Absent: it has none. */
  readonly brand?: string | undefined
  /** The wire protocol. */
  readonly protocol: string
  /** The provider's name for the model. */
  readonly model: string
}

type Mutable = { -readonly [Name in keyof TargetProfile]: TargetProfile[Name] }

const names = Object.keys(profileFields).filter((name): name is keyof TargetProfile => name in profileFields)

/** A target that deviates in nothing. */
export const anyTarget: TargetProfile = Object.freeze(freeProfile())

/**
 * The profile of a target: the entries that match it, in their order, then the owner's fields, which hold as they are.
 */
export function profileAt(target: ProfiledTarget, owned: Partial<TargetProfile> = {}): TargetProfile {
  const known = knownProfiles.filter((entry) => matches(entry, target)).map(({ profile }) => profile)
  const profile = known.length === 0 ? anyTarget : known.reduce(withFields, anyTarget)
  return Object.keys(owned).length === 0 ? profile : Object.freeze({ ...profile, ...owned })
}

/** The profile with further fields, each combined by its own rule. */
export function withFields(profile: TargetProfile, further: Partial<TargetProfile>): TargetProfile {
  const changed: Mutable = { ...profile }
  for (const name of names) combine(changed, name, further[name])
  return Object.freeze(changed)
}

function combine<Name extends keyof TargetProfile>(
  profile: Mutable,
  name: Name,
  value: TargetProfile[Name] | undefined,
): void {
  if (value !== undefined) profile[name] = profileFields[name].combine(profile[name], value)
}

function matches({ match }: ProfileEntry, { brand = '', protocol, model }: ProfiledTarget): boolean {
  const name = model.toLowerCase()
  return (
    (match.protocol === undefined || match.protocol === protocol) &&
    match.brands?.includes(brand) !== false &&
    (match.model === undefined || match.model.test(name)) &&
    match.except?.test(name) !== true
  )
}

function freeProfile(): TargetProfile {
  const profile: Partial<Mutable> = {}
  for (const name of names) setFree(profile, name, profileFields[name].free)
  if (!isWhole(profile)) throw new Error('a field of profiles has no value')
  return profile
}

function setFree<Name extends keyof TargetProfile>(
  profile: Partial<Mutable>,
  name: Name,
  value: TargetProfile[Name],
): void {
  profile[name] = value
}

function isWhole(profile: Partial<TargetProfile>): profile is TargetProfile {
  return names.every((name) => name in profile)
}

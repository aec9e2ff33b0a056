import { isDeepStrictEqual } from 'node:util'
import { knownProfiles, type ProfileEntry } from './known-profiles.ts'
import type { Lesson } from './lessons.ts'
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

const rememberedMs = 24 * 3600 * 1000
const lessonsMax = 16

interface RememberedLesson {
  /** Wall-clock milliseconds. */
  readonly until: number
  readonly lesson: Lesson
}

/**
 * The profile of a model at a provider, with what its refusals have taught. Traits are remembered for 24 h, in memory.
 */
export class LearnedProfile {
  readonly #known: TargetProfile
  readonly #now: () => number
  /** The oldest first. */
  #lessons: readonly RememberedLesson[] = []
  #current: TargetProfile

  /** @param now wall-clock milliseconds */
  constructor(known: TargetProfile, now: () => number = Date.now) {
    this.#known = known
    this.#current = known
    this.#now = now
  }

  /** The profile that holds now. The same object while it is the same. */
  get current(): TargetProfile {
    if (this.#lessons.length > 0 && this.#lessons.some(({ until }) => until <= this.#now()))
      this.#replace(this.#lessons)
    return this.#current
  }

  /** Remembers a lesson by which a request was taken. */
  remember(lesson: Lesson): void {
    const others = this.#lessons.filter((each) => !isDeepStrictEqual(each.lesson, lesson)).slice(1 - lessonsMax)
    this.#replace([...others, { until: this.#now() + rememberedMs, lesson }])
  }

  #replace(lessons: readonly RememberedLesson[]): void {
    this.#lessons = lessons.filter(({ until }) => until > this.#now())
    this.#current = this.#lessons.reduce((profile, { lesson }) => withFields(profile, lesson.profile), this.#known)
  }
}

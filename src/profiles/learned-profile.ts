import type { Lesson } from './lessons.ts'
import type { TargetProfile } from './profile.ts'
import { withFields } from './resolve-profile.ts'

const rememberedMs = 24 * 3600 * 1000
const lessonsMax = 16

/** A trait of a target that a refusal has taught. */
export interface LearnedTrait {
  readonly name: string
  /** Wall-clock milliseconds. */
  readonly until: number
}

/**
 * The profile of a model at a provider, with what its refusals have taught. Traits are remembered for 24 h, in memory.
 */
export class LearnedProfile {
  readonly #known: TargetProfile
  readonly #now: () => number
  #lessons: readonly (LearnedTrait & { readonly lesson: Lesson })[] = []
  #current: TargetProfile

  /** @param now wall-clock milliseconds */
  constructor(known: TargetProfile, now: () => number = Date.now) {
    this.#known = known
    this.#current = known
    this.#now = now
  }

  /** The profile that holds now. The same object while it is the same. */
  get current(): TargetProfile {
    if (this.#lessons.length > 0 && this.#lessons.some(({ until }) => until <= this.#now())) {
      this.#lessons = this.#lessons.filter(({ until }) => until > this.#now())
      this.#current = this.#lessons.reduce((profile, { lesson }) => withFields(profile, lesson.profile), this.#known)
    }
    return this.#current
  }

  /** What refusals have taught, the oldest first. */
  get traits(): readonly LearnedTrait[] {
    void this.current
    return this.#lessons.map(({ name, until }) => ({ name, until }))
  }

  /** Remembers a lesson by which a request was taken. */
  remember(lesson: Lesson): void {
    const others = this.#lessons.filter(({ name }) => name !== lesson.name).slice(1 - lessonsMax)
    this.#lessons = [...others, { name: lesson.name, until: this.#now() + rememberedMs, lesson }]
    this.#current = withFields(this.current, lesson.profile)
  }
}

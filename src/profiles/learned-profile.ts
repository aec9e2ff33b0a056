import { isDeepStrictEqual } from 'node:util'
import type { Lesson } from './lessons.ts'
import type { TargetProfile } from './profile.ts'
import { withFields } from './resolve-profile.ts'

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

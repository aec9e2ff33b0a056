import type { LearnedProfile } from '../profiles/learned-profile.ts'
import type { Lesson } from '../profiles/lessons.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'

/** Times that a request is sent once more, each with another lesson. */
const lessonsMax = 2

/**
 * Asks a target in the form of its profile. A refusal that names a trait of the target teaches its profile: the request
 * is sent once more in the other form, at most twice. The lesson is remembered once the request is taken. Its health
 * gets the last outcome only (failover.md, Adapted once).
 */
export async function adaptedTo<Reply>(
  learned: LearnedProfile,
  call: Call,
  ask: (profile: TargetProfile) => Promise<Reply>,
): Promise<Reply> {
  let profile = learned.current
  const lessons: { readonly lesson: Lesson }[] = []
  for (;;) {
    try {
      const reply = await ask(profile)
      for (const { lesson } of lessons) learned.remember(lesson)
      return reply
    } catch (error) {
      const taught =
        lessons.length < lessonsMax && mayTeach(error, call) ? learned.lessonOf(error.message, profile) : undefined
      if (taught === undefined) throw error
      lessons.push(taught)
      profile = taught.profile
      call.changes?.restart()
      call.changes?.adapt(taught.lesson.name)
    }
  }
}

/** Statuses of refusals of a request's form. Local servers answer 500 for one that their template refuses. */
const teachingStatuses: ReadonlySet<number | undefined> = new Set([400, 422, 500])

function mayTeach(error: unknown, { signal, isProbe }: Call): error is UpstreamFailure {
  return error instanceof UpstreamFailure && teachingStatuses.has(error.status) && !signal.aborted && isProbe !== true
}

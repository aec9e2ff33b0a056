import type { LearnedProfile } from '../profiles/learned-profile.ts'
import { lessonsOf, type Lesson } from '../profiles/lessons.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { withFields } from '../profiles/resolve-profile.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'

/** Times that a request is sent once more, each with another lesson. */
const lessonsMax = 2

/** A request in the form of a profile. */
export interface Adaptable<Reply> {
  send(profile: TargetProfile): Promise<Reply>
  /** Whether the request has another form with the second profile. */
  differs(before: TargetProfile, after: TargetProfile): boolean
}

/**
 * Answers a refusal that names a trait of the target: the request is sent once more in the other form, at most twice.
 * The lessons are remembered once the request is taken. Its health gets the last outcome only (failover.md, Adapted
 * once).
 *
 * @param refusal of the request in the form of `profile`
 * @throws {UpstreamFailure} the last refusal
 */
export async function adaptedAfter<Reply>(
  refusal: unknown,
  { learned, profile: before, call }: Refused,
  request: Adaptable<Reply>,
): Promise<Reply> {
  let [error, profile] = [refusal, before]
  const lessons: Lesson[] = []
  for (;;) {
    const taught = lessons.length < lessonsMax && mayTeach(error, call) ? taughtBy(error, profile, request) : undefined
    if (taught === undefined) throw error
    lessons.push(taught.lesson)
    profile = taught.profile
    call.changes?.restart()
    call.changes?.adapt(taught.lesson.name)
    try {
      const reply = await request.send(profile)
      for (const lesson of lessons) learned.remember(lesson)
      return reply
    } catch (next) {
      error = next
    }
  }
}

/** A request that was refused. */
interface Refused {
  readonly learned: LearnedProfile
  readonly profile: TargetProfile
  readonly call: Call
}

/** The first lesson that changes the request. */
function taughtBy(
  { message }: UpstreamFailure,
  before: TargetProfile,
  request: Pick<Adaptable<unknown>, 'differs'>,
): { readonly lesson: Lesson; readonly profile: TargetProfile } | undefined {
  return lessonsOf(message)
    .map((lesson) => ({ lesson, profile: withFields(before, lesson.profile) }))
    .find(({ profile }) => request.differs(before, profile))
}

/**
 * Statuses of refusals of a request's form. Local servers answer 500 for one that their template refuses, and OpenAI
 * 404 where a model has another endpoint.
 */
const teachingStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 422, 500])

function mayTeach(error: unknown, { signal, isProbe }: Call): error is UpstreamFailure {
  return error instanceof UpstreamFailure && teachingStatuses.has(error.status) && !signal.aborted && isProbe !== true
}

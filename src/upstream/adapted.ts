import { isDeepStrictEqual } from 'node:util'
import { nextTurn } from '../base/next-turn.ts'
import { lessonsOf, type Lesson } from '../profiles/lessons.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { type LearnedProfile, withFields } from '../profiles/resolve-profile.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Call } from '../service/service.ts'

/** Times that a request is sent once more, each with another lesson. */
const lessonsMax = 2
/** Lessons of one refusal that are compared: each writes the request once. */
const candidatesMax = 8

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
  const tried: Lesson[] = []
  const held: Lesson[] = []
  for (;;) {
    const taught = tried.length < lessonsMax ? await taughtBy(error, call, { profile, tried }, request) : undefined
    if (taught === undefined) throw error
    const { lesson } = taught
    tried.push(lesson)
    call.changes?.restart()
    call.changes?.adapt(lesson.name)
    try {
      const reply = await request.send(taught.profile)
      for (const each of [...held, lesson]) if (each.isOfValue !== true) learned.remember(each)
      return reply
    } catch (next) {
      // The same refusal again: it was another thing, or words of the caller that the upstream quotes.
      const isOther = !lessonsIn(next, call).some((each) => isDeepStrictEqual(each, lesson))
      if (isOther) {
        held.push(lesson)
        profile = taught.profile
      }
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

/** The profile of a request so far, and the lessons that were tried. */
interface Learning {
  readonly profile: TargetProfile
  readonly tried: readonly Lesson[]
}

/** The first lesson that changes the request and was not tried. Other requests have their turn between two of them. */
async function taughtBy(
  error: unknown,
  call: Call,
  { profile: before, tried }: Learning,
  request: Pick<Adaptable<unknown>, 'differs'>,
): Promise<{ readonly lesson: Lesson; readonly profile: TargetProfile } | undefined> {
  const candidates = lessonsIn(error, call)
    .filter((lesson) => !tried.some((each) => isDeepStrictEqual(each, lesson)))
    .map((lesson) => ({ lesson, profile: withFields(before, lesson.profile) }))
    .filter(({ profile }) => !isDeepStrictEqual(profile, before))
  for (const candidate of candidates.slice(0, candidatesMax)) {
    await nextTurn()
    if (call.signal.aborted) return undefined
    if (request.differs(before, candidate.profile)) return candidate
  }
  return undefined
}

/** The lessons of a refusal; none of other failures. */
function lessonsIn(error: unknown, { signal, isProbe }: Call): readonly Lesson[] {
  if (!(error instanceof UpstreamFailure) || signal.aborted || isProbe === true) return []
  return lessonsOf(error.message, error.status ?? 0)
}

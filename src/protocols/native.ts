import type { Ask } from '../formats/ask.ts'
import type { AnsweredError, ChangeNotes, Format } from '../formats/format.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import { droppedReasoning } from '../formats/reasoning-spans.ts'
import type { WholeReply } from '../formats/reply.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { classifyAnswered } from '../upstream/classify.ts'
import type { Dialect } from './protocol.ts'

/** For upstreams that speak the caller's format: bytes pass through, inspected but not rebuilt. */
export function native({ passThrough, isOptional, answerBytesMax }: Format, path: Dialect['path']): Dialect {
  const { reader, media, readLarge, fit, losesReasoning: loses = hasForeign } = passThrough
  return {
    isNative: true,
    answerBytesMax,
    ...(isOptional === undefined ? {} : { isOptional }),
    path,
    ...(media === undefined ? {} : { media }),
    encode(ask, model, target, notes) {
      if (loses(ask, target)) notes?.changes?.drop(droppedReasoning)
      if (fit === undefined) return passThrough.write(ask, model, target)
      noteRefused(ask, target.profile, notes?.changes)
      return passThrough.write(fit(ask, target.profile, notes?.changes), model, target)
    },
    decode: withUpstreamFailures((body, ask, notes) => throwIfError(passThrough.readWhole(body, ask), notes?.brand)),
    ...(readLarge === undefined ? {} : { decodeLarge: largeDecoder(readLarge) }),
    ...(reader === undefined
      ? {}
      : {
          stream(ask, target) {
            const parts = reader(ask, target)
            return {
              hasOneChoice: parts.hasOneChoice,
              get model() {
                return parts.model
              },
              ...(parts.eventBytesMax === undefined ? {} : { eventBytesMax: parts.eventBytesMax }),
              decode: (event) => throwIfError(parts.read(event), target.brand),
              finish: () => parts.finish(),
              end: () => parts.end?.() ?? [],
            }
          },
        }),
  }
}

/**
 * Notes the top-level fields that the target refuses. How usage is reported is of form alone, and so is a `store` that
 * is false.
 */
export function noteRefused(
  { body, members }: Ask,
  { drop }: Pick<TargetProfile, 'drop'>,
  changes: ChangeNotes | undefined,
): void {
  if (drop.length === 0 || changes === undefined) return
  for (const { name, valueStart } of members) {
    if (!drop.includes(name) || name === 'stream_options') continue
    if (name !== 'store' || body[valueStart] === letterT) changes.drop(name)
  }
}

/** The beginning of `true`. */
const letterT = 0x74

function hasForeign({ hasReasoning }: Ask): boolean {
  return hasReasoning === 'foreign'
}

/** Wraps a reader of large answers, as {@link withUpstreamFailures}. */
export function largeDecoder<Asked extends Ask>(
  readLarge: (body: Uint8Array, ask: Asked, pause: () => Promise<void>) => Promise<WholeReply | AnsweredError>,
): (body: Uint8Array, ask: Asked, pause: () => Promise<void>) => Promise<WholeReply> {
  return async (body, ask, pause) => {
    try {
      return throwIfError(await readLarge(body, ask, pause))
    } catch (error) {
      throw error instanceof MalformedAnswer ? malformed(error) : error
    }
  }
}

/** Wraps a reader of answers so that it throws UpstreamFailure for a malformed answer. */
export function withUpstreamFailures(read: Dialect['decode']): Dialect['decode'] {
  return (body, ask, notes) => {
    try {
      return read(body, ask, notes)
    } catch (error) {
      throw error instanceof MalformedAnswer ? malformed(error) : error
    }
  }
}

/** Throws for an error inside a 200 answer, by its class (failover.md rows 22 and 33). @param brand of the provider */
export function throwIfError<Read extends object | 'done'>(read: Read | AnsweredError, brand?: string): Read {
  if (isError(read)) throw failureOf(read, brand)
  return read
}

function isError(read: object | 'done'): read is AnsweredError {
  return read !== 'done' && 'kind' in read && read.kind === 'error'
}

function failureOf({ error }: AnsweredError, brand: string | undefined): UpstreamFailure {
  return error === undefined
    ? new UpstreamFailure('server_error', 'an error event', { status: 200 })
    : classifyAnswered(error, brand)
}

const failures = { malformed: 'malformed', no_choices: 'malformed', empty: 'empty', unasked: 'bad_request' } as const

function malformed(error: MalformedAnswer): UpstreamFailure {
  return new UpstreamFailure(failures[error.reason], error.message, { status: 200, cause: error })
}

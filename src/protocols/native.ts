import type { ErrorBody } from '../formats/error-body.ts'
import type { Format } from '../formats/format.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { classifyFailure, statusOfError } from '../upstream/classify.ts'
import type { Endpoint, Dialect } from './protocol.ts'

const noHeaders: ReadonlyMap<string, string> = new Map()

/** For upstreams that speak the caller's format: bytes pass through, inspected but not rebuilt. */
export function native({ passThrough }: Format, path: (endpoint: Endpoint) => string): Dialect {
  const { reader } = passThrough
  return {
    path,
    encode: (ask, model, endpoint) => passThrough.write(ask, model, endpoint),
    decode: understood((body, ask) => {
      const whole = passThrough.readWhole(body, ask)
      if (whole.kind === 'error') throw answeredError(whole.error)
      return whole
    }),
    ...(reader === undefined
      ? {}
      : {
          stream(ask, endpoint) {
            const parts = reader(ask, endpoint)
            return {
              hasOneChoice: parts.hasOneChoice,
              decode(event) {
                const read = parts.read(event)
                if (read === 'done' || !('kind' in read)) return read
                throw answeredError(read.error)
              },
              finish: parts.finish,
            }
          },
        }),
  }
}

/** Wraps a reader of answers so that it throws UpstreamFailure for a malformed answer. */
export function understood(read: Dialect['decode']): Dialect['decode'] {
  return (body, ask) => {
    try {
      return read(body, ask)
    } catch (error) {
      throw error instanceof MalformedAnswer ? malformed(error) : error
    }
  }
}

/** The failure for an error inside a 200 answer, by the status that its code means (failover.md rows 22 and 33). */
export function answeredError(error: ErrorBody | undefined): UpstreamFailure {
  return error === undefined
    ? new UpstreamFailure('server_error', 'an error event', { status: 200 })
    : classifyFailure(statusOfError(error), noHeaders, error).answeredWith(200)
}

function malformed(error: MalformedAnswer): UpstreamFailure {
  return new UpstreamFailure(error.reason === 'empty' ? 'empty' : 'malformed', error.message, {
    status: 200,
    cause: error,
  })
}

import { checkUtf8, JsonCursor, JsonSyntaxError } from '../bytes/json-cursor.ts'
import { runInSlices, runThrough, skip, sliceBytes, type Pace, type Walk } from '../bytes/pace.ts'
import { invalidRequest, WireError } from './error.ts'

/** Reads a request at the cursor. Yields after it has passed the limit of the pace. */
export type RequestWalk<Request> = (cursor: JsonCursor, pace: Pace) => Walk<Request>

/**
 * Checks a JSON body in place, in one go.
 *
 * @throws {WireError} 400: `invalid_json` first, then the first fault in the body
 */
export function checkBody<Request>(body: Uint8Array, read: RequestWalk<Request>): Request {
  const cursor = new JsonCursor(body)
  try {
    const request = runThrough(read(cursor, { limit: Infinity }))
    cursor.finish()
    return request
  } catch (error) {
    throw runThrough(faultOf(body, error, { limit: Infinity }))
  }
}

/**
 * As {@link checkBody}, awaiting `pause` between pieces of work of a few milliseconds.
 *
 * @throws {WireError} as checkBody
 */
export async function checkLargeBody<Request>(
  body: Uint8Array,
  read: RequestWalk<Request>,
  pause: () => Promise<void>,
): Promise<Request> {
  const cursor = new JsonCursor(body)
  const pace = { limit: sliceBytes }
  try {
    const request = await runInSlices(read(cursor, pace), pause)
    if (cursor.hasHighBytes) await runInSlices(checkUtf8(body, pace), pause)
    return request
  } catch (error) {
    throw await runInSlices(faultOf(body, error, { limit: sliceBytes }), pause)
  }
}

/** Maps an error of a reader to the error of the check. */
function* faultOf(body: Uint8Array, error: unknown, pace: Pace): Walk<unknown> {
  if (error instanceof JsonSyntaxError) return notJson(error)
  if (!(error instanceof WireError)) return error
  // A fault in a value is only reported for valid JSON.
  const whole = new JsonCursor(body)
  try {
    yield* skip(whole, pace)
    whole.end()
    if (whole.hasHighBytes) yield* checkUtf8(body, pace)
    return error
  } catch (cause) {
    return cause instanceof JsonSyntaxError ? notJson(cause) : cause
  }
}

function notJson(cause: JsonSyntaxError): WireError {
  if (cause.position === 0 && cause.reason === 'unexpected end')
    return invalidRequest('invalid_json', 'The request body is empty.')
  return invalidRequest('invalid_json', `The request body is not valid JSON: ${cause.message}.`)
}

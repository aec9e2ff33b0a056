import type { Unsupported } from '../service/failure.ts'

/** `error.type` values this service answers with (docs/errors.md). */
export type WireErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'api_error'
  | 'overloaded_error'
  | 'insufficient_quota'

/** What the page of an error says. */
export interface ErrorPageTexts {
  readonly message: string
  readonly advice?: string | undefined
  /** Of {@link WireError.wayOn}. */
  readonly wayOn?: string | undefined
}

/** An error for the client: status, and the body `{"error":{message,type,param,code}}`. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly status: number
  readonly type: WireErrorType
  readonly code: string
  readonly param: string | null
  /** What every provider refused in the request. */
  readonly unsupported: Unsupported | undefined
  /** Extra response headers, such as `allow` or `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
  /** Help for people, for an error shown as a page: a sentence or two. */
  readonly advice: string | undefined
  /** A way on from the page of the error, beside the one to the start. */
  readonly wayOn: { readonly path: string; readonly text: string } | undefined

  /** Its page in other languages than English, by their codes. */
  readonly translations: Readonly<Record<string, ErrorPageTexts>>

  constructor(
    status: number,
    type: WireErrorType,
    code: string,
    message: string,
    options: {
      readonly param?: string | undefined
      readonly unsupported?: Unsupported | undefined
      readonly headers?: Readonly<Record<string, string>>
      readonly advice?: string
      readonly wayOn?: WireError['wayOn']
      readonly translations?: WireError['translations']
      readonly cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.type = type
    this.code = code
    this.param = options.param ?? null
    this.unsupported = options.unsupported
    this.headers = options.headers ?? {}
    this.advice = options.advice
    this.wayOn = options.wayOn
    this.translations = options.translations ?? {}
  }

  /** The body of the response. */
  toJSON(): { error: { message: string; type: string; param: string | null; code: string } } {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } }
  }
}

/**
 * Thrown in place of an answer: the connection is closed without one. For clients that give up a credential after any
 * status of an error, and keep it after a lost connection.
 */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** 400: the request itself is at fault. `param` names the field, as in `messages[0].content`. */
export function invalidRequest(
  code: 'invalid_json' | 'invalid_form' | 'invalid_value' | 'invalid_type' | 'missing_required_parameter',
  message: string,
  param?: string,
): WireError {
  return new WireError(400, 'invalid_request_error', code, message, param === undefined ? {} : { param })
}

import type { AnswerError } from '../history/conversation.ts'

/** What a person can do about an error, the most helpful first. */
export type Remedy = 'continue' | 'retry' | 'choose-model' | 'settings' | 'edit' | 'providers'

/** An error in words. */
export interface Explanation {
  /** What happened. */
  readonly title: string
  /** What to do. */
  readonly advice: string
  readonly remedies: readonly Remedy[]
  /** Whether the service's own message tells more than this. */
  readonly hasDetail: boolean
}

/** What is known beside the error. */
export interface ErrorContext {
  readonly isOnline: boolean
  /** Part of the answer had come. */
  readonly hasText: boolean
}

type Wording = Omit<Explanation, 'hasDetail'> & { readonly hasDetail?: boolean }

const busy: Wording = { title: 'The service has too much to do', advice: 'Try again in a moment.', remedies: ['retry'] }
const signedOut: Wording = {
  title: 'You are not signed in any more',
  advice: 'Sign in and retry. Nothing you wrote is lost.',
  remedies: ['retry'],
  hasDetail: false,
}
const refusedField: Wording = {
  title: 'The service does not take this request',
  advice: 'Correct what is named, then retry.',
  remedies: ['settings', 'retry'],
}
const unreadable: Wording = {
  title: 'The service could not read the request',
  advice: 'Reload the page. If that does not help, something between the page and the service changes requests.',
  remedies: ['retry'],
}

/** By `error.code` (docs/errors.md). */
const wordings: ReadonlyMap<string, Wording> = new Map(
  Object.entries<Wording>({
    model_not_found: {
      title: 'No enabled provider offers this model',
      advice: 'Choose another model, or look at which providers are on.',
      remedies: ['choose-model', 'providers', 'retry'],
    },
    provider_error: {
      title: 'Every provider that was asked failed',
      advice: 'Retry, or choose another model.',
      remedies: ['retry', 'choose-model'],
    },
    content_policy_violation: {
      title: 'The provider rejected the content',
      advice: 'Change what you wrote, or choose another model.',
      remedies: ['edit', 'choose-model', 'retry'],
    },
    invalid_value: refusedField,
    invalid_type: refusedField,
    missing_required_parameter: refusedField,
    invalid_json: unreadable,
    bad_request: unreadable,
    unsupported_encoding: unreadable,
    request_too_large: {
      title: 'The conversation is too large for the service',
      advice: 'Use fewer or smaller pictures, or begin a new conversation.',
      remedies: ['edit', 'retry'],
    },
    request_timeout: {
      title: 'The message did not arrive in time',
      advice: 'The connection is slow: retry, or use smaller pictures.',
      remedies: ['retry', 'edit'],
    },
    authentication_required: signedOut,
    invalid_session: signedOut,
    access_denied: {
      title: 'You may not use this service',
      advice: 'Sign in with another account, or ask whoever runs the service.',
      remedies: ['retry'],
    },
    cross_site_request: {
      title: 'The service took this for another site’s request',
      advice: 'Open the page at the service’s own address.',
      remedies: ['retry'],
    },
    host_not_allowed: {
      title: 'The service does not answer at this address',
      advice: 'Open the page at an address of its own, such as an IP address or localhost.',
      remedies: ['retry'],
    },
    overloaded: busy,
    rate_limited: busy,
    not_ready: {
      title: 'The service is not ready',
      advice: 'It is starting, stopping, or has no usable provider.',
      remedies: ['retry', 'providers'],
    },
    store_unavailable: busy,
    internal_error: {
      title: 'The service made a mistake',
      advice: 'Its log tells more under the request’s id. Retrying may help.',
      remedies: ['retry'],
    },
  }),
)

const unreachable: Wording = {
  title: 'The service cannot be reached',
  advice: 'Check that it runs and that you are connected, then retry.',
  remedies: ['retry'],
  hasDetail: false,
}
const offline: Wording = {
  title: 'You are offline',
  advice: 'Your message is kept. Retry when the connection is back.',
  remedies: ['retry'],
  hasDetail: false,
}
const cutOff: Wording = { title: 'The answer was cut off', advice: 'Continue it, or retry.', remedies: ['retry'] }
const unknown: Wording = {
  title: 'There is no answer',
  advice: 'Retry, or choose another model.',
  remedies: ['retry', 'choose-model'],
}

/** What happened and what to do, by the error's code, else by its status. */
export function explainError(error: AnswerError, context: ErrorContext): Explanation {
  const { hasDetail = true, remedies, ...wording } = wordingOf(error, context)
  return { ...wording, hasDetail, remedies: context.hasText ? ['continue', ...remedies] : remedies }
}

function wordingOf({ kind, code, status, param }: AnswerError, { isOnline, hasText }: ErrorContext): Wording {
  if (kind === 'network') return isOnline ? unreachable : offline
  if (code === 'provider_error' && hasText) return cutOff
  const wording = wordings.get(code ?? '') ?? byStatus(status)
  if (wording !== refusedField || param === undefined) return wording
  return param.startsWith('messages')
    ? { ...refusedField, remedies: ['edit', 'retry'] }
    : { ...refusedField, title: `The service does not take this ${param}` }
}

function byStatus(status: number | undefined): Wording {
  switch (status) {
    case 401:
      return signedOut
    case 413:
      return wordings.get('request_too_large') ?? unknown
    case 429:
    case 503:
      return busy
    default:
      return unknown
  }
}

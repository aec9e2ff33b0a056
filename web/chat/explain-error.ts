import type { AnswerError } from '../history/conversation.ts'

/** Remedies for an error, as buttons. Lists start with the most helpful, the only one that is shown at once. */
export type Remedy =
  | 'continue'
  | 'retry'
  | 'larger-model'
  | 'choose-model'
  | 'settings'
  | 'edit'
  | 'shorten'
  | 'providers'
  | 'reload'

/** An error explained to a person. */
export interface Explanation {
  /** What happened. */
  readonly title: string
  /** What to do. */
  readonly advice: string
  readonly remedies: readonly Remedy[]
  /** Whether the service's own message says more. */
  readonly hasDetail: boolean
}

/** Context of an error. */
export interface ErrorContext {
  readonly isOnline: boolean
  /** The answer has text. */
  readonly hasText: boolean
}

type Wording = Omit<Explanation, 'hasDetail'> & { readonly hasDetail?: boolean }

const busy: Wording = { title: 'The service is overloaded', advice: 'Try again in a moment.', remedies: ['retry'] }
const tooMuch: Wording = {
  title: 'You have reached a limit of the service',
  advice: 'Wait a little, then retry.',
  remedies: ['retry'],
}
const signedOut: Wording = {
  title: 'You are not signed in any more',
  advice: 'Sign in and retry. Nothing you wrote is lost.',
  remedies: ['retry'],
  hasDetail: false,
}
const refusedField: Wording = {
  title: 'The service does not take this request',
  advice: 'Correct the named field, then retry.',
  remedies: ['settings', 'retry'],
}
const unreadable: Wording = {
  title: 'The service could not read the request',
  advice: 'Reload the page. If that does not help, something between the page and the service changes requests.',
  remedies: ['reload', 'retry'],
}

/** A retry or continuation would be too long again. */
const tooLong: Wording = {
  title: 'The conversation is too long for this model',
  advice: 'Ask a model with a larger context, shorten the message, or begin a new conversation.',
  remedies: ['larger-model', 'choose-model', 'shorten'],
}

/** Explanations by `error.code` (docs/errors.md). */
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
    context_length_exceeded: tooLong,
    request_too_large: {
      title: 'The conversation is too large for the service',
      advice: 'Use fewer or smaller pictures, or begin a new conversation.',
      remedies: ['shorten', 'retry'],
    },
    request_timeout: {
      title: 'The message did not arrive in time',
      advice: 'The connection is slow: retry, or use smaller pictures.',
      remedies: ['retry', 'shorten'],
    },
    authentication_required: signedOut,
    invalid_session: signedOut,
    access_denied: {
      title: 'You may not use this service',
      advice: 'Sign in with another account, or ask the owner of the service.',
      remedies: ['retry'],
    },
    cross_site_request: {
      title: 'The service took this for another site’s request',
      advice: 'Open the page at the service’s own address.',
      remedies: ['retry'],
    },
    origin_not_allowed: {
      title: 'This page may not call the service',
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
    rate_limit_exceeded: tooMuch,
    concurrency_limit_exceeded: tooMuch,
    insufficient_quota: {
      title: 'The budget for this model is used up',
      advice: 'Choose another model, or wait until the budget begins again.',
      remedies: ['choose-model', 'retry'],
    },
    model_price_unknown: {
      title: 'The price of this model is not known',
      advice: 'There is a budget, so the owner of the service must set a price. Choose another model.',
      remedies: ['choose-model', 'retry'],
    },
    not_ready: {
      title: 'The service is not ready',
      advice: 'It is starting, stopping, or has no usable provider.',
      remedies: ['retry', 'providers'],
    },
    store_unavailable: busy,
    internal_error: {
      title: 'Internal error of the service',
      advice: 'See the service log for the request’s id. Retrying may help.',
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

/** Explains an error by its code, else by its status. */
export function explainError(error: AnswerError, context: ErrorContext): Explanation {
  const wording = wordingOf(error, context)
  const canContinue = context.hasText && wording !== tooLong
  return { hasDetail: true, ...wording, remedies: canContinue ? ['continue', ...wording.remedies] : wording.remedies }
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

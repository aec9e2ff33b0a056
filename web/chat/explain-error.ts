import type { TrailEntry } from '../../src/observe/request-entry.ts'
import type { AnswerError } from '../history/conversation.ts'
import { say } from '../texts/say.ts'

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

type Wording = Omit<Explanation, 'hasDetail'> & { readonly hasDetail?: boolean }

const busy: Wording = { ...say.errors.busy, remedies: ['retry'] }
const tooMuch: Wording = {
  ...say.errors.tooMuch,
  remedies: ['retry'],
}
const signedOut: Wording = {
  ...say.errors.signedOut,
  remedies: ['retry'],
  hasDetail: false,
}
const refusedField: Wording = {
  ...say.errors.refusedField,
  remedies: ['settings', 'retry'],
}
const unreadable: Wording = {
  ...say.errors.unreadable,
  remedies: ['reload', 'retry'],
}

/** A retry or continuation would be too long again. */
const tooLong: Wording = {
  ...say.errors.tooLong,
  remedies: ['larger-model', 'choose-model', 'shorten'],
}

/** Explanations by `error.code` (docs/errors.md). */
const wordings: ReadonlyMap<string, Wording> = new Map(
  Object.entries<Wording>({
    model_not_found: {
      ...say.errors.modelNotFound,
      remedies: ['choose-model', 'providers', 'retry'],
    },
    provider_error: {
      ...say.errors.allFailed,
      remedies: ['retry', 'choose-model', 'providers'],
    },
    content_policy_violation: {
      ...say.errors.contentPolicy,
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
      ...say.errors.tooLarge,
      remedies: ['shorten', 'retry'],
    },
    request_timeout: {
      ...say.errors.requestTimeout,
      remedies: ['retry', 'shorten'],
    },
    authentication_required: signedOut,
    invalid_session: signedOut,
    access_denied: {
      ...say.errors.accessDenied,
      remedies: ['retry'],
    },
    cross_site_request: {
      ...say.errors.crossSite,
      remedies: ['retry'],
    },
    origin_not_allowed: {
      ...say.errors.originNotAllowed,
      remedies: ['retry'],
    },
    host_not_allowed: {
      ...say.errors.hostNotAllowed,
      remedies: ['retry'],
    },
    overloaded: busy,
    rate_limited: busy,
    rate_limit_exceeded: tooMuch,
    concurrency_limit_exceeded: tooMuch,
    insufficient_quota: {
      ...say.errors.budget,
      remedies: ['choose-model', 'retry'],
    },
    model_price_unknown: {
      ...say.errors.priceUnknown,
      remedies: ['choose-model', 'retry'],
    },
    not_ready: {
      ...say.errors.notReady,
      remedies: ['retry', 'providers'],
    },
    store_unavailable: busy,
    internal_error: {
      ...say.errors.internal,
      remedies: ['retry'],
    },
  }),
)

/** A retry would be refused again. */
const keysRefused: Wording = { ...say.errors.allFailed, remedies: ['providers', 'choose-model', 'retry'] }
const cutOff: Wording = { ...say.errors.cutOff, remedies: ['retry'] }
const unknown: Wording = {
  ...say.errors.unknown,
  remedies: ['retry', 'choose-model'],
}

/** Failures that a retry does not change, but the owner of the service. */
const ownersFailures: ReadonlySet<string | undefined> = new Set(['credential', 'quota'])

/** Explains an error of the service by its code, else by its status. @param trail the providers that were asked */
export function explainError(error: AnswerError, hasText: boolean, trail: readonly TrailEntry[] = []): Explanation {
  const found = wordingOf(error, hasText)
  const isForOwners = trail.length > 0 && trail.every(({ failure }) => ownersFailures.has(failure))
  const wording = isForOwners && error.code === 'provider_error' && !hasText ? keysRefused : found
  const canContinue = hasText && wording !== tooLong
  return { hasDetail: true, ...wording, remedies: canContinue ? ['continue', ...wording.remedies] : wording.remedies }
}

/** The last attempt of each provider, if it failed. */
export function lastFailures(trail: readonly TrailEntry[]): readonly TrailEntry[] {
  const last = new Map(trail.map((attempt) => [attempt.provider, attempt]))
  return [...last.values()].filter(({ failure }) => failure !== undefined)
}

function wordingOf({ code, status, param }: AnswerError, hasText: boolean): Wording {
  if (code === 'provider_error' && hasText) return cutOff
  const wording = wordings.get(code ?? '') ?? byStatus(status)
  if (wording !== refusedField || param === undefined) return wording
  return param.startsWith('messages')
    ? { ...refusedField, remedies: ['edit', 'retry'] }
    : { ...refusedField, title: say.errors.refusedParameter(param) }
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

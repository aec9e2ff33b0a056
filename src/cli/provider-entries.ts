import { findBrand } from '../config/catalogue.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { OfferedModel } from '../gateway/provider.ts'
import type { AttemptSums, ProviderEntry, ProviderState } from '../http/page-api.ts'
import type { ProviderAttempts } from '../observe/provider-attempts.ts'
import type { Unavailability } from '../service/circuit.ts'
import type { FailureClass } from '../service/failure.ts'
import type { ModelHealth, ProviderHealth } from '../service/health.ts'

/** Models of either kind: those it offers, and those that are left alone. */
const modelsShownMost = 1_000

/** What is known of one provider. */
export interface ProviderFacts {
  readonly config: ProviderConfig
  /** `undefined`: it has not told them, or was not asked. */
  readonly models: readonly OfferedModel[] | undefined
  /** Why it has not told its models. */
  readonly modelsFailure?: string | undefined
  /** `undefined`: nobody asked it yet. */
  readonly health: ProviderHealth | undefined
  readonly attempts: ProviderAttempts
}

/**
 * A provider as the page shows it: no key, no header.
 *
 * @param now Unix milliseconds
 */
export function providerEntry(
  { config, models, modelsFailure, health, attempts }: ProviderFacts,
  now: number,
): ProviderEntry {
  const { id, protocol, baseUrl, enabled } = config
  const brand = config.brand === undefined ? undefined : findBrand(config.brand)?.name
  const state = stateOf({ config, models, modelsFailure, health }, now)
  const { lastError } = attempts
  return {
    id,
    protocol,
    ...(brand === undefined ? {} : { brand }),
    ...(baseUrl === '' ? {} : { baseUrl }),
    enabled,
    state,
    coolingModels: state.kind === 'ok' || state.kind === 'failing' ? namesOf(health?.models ?? [], models) : [],
    ...(models === undefined
      ? {}
      : { models: models.slice(0, modelsShownMost).map(({ name }) => name), modelCount: models.length }),
    attempts: sumsOf(attempts),
    ...(lastError === undefined
      ? {}
      : {
          lastError: {
            time: lastError.time,
            why: lastError.why,
            model: lastError.model,
            ...(lastError.status === undefined ? {} : { status: lastError.status }),
          },
        }),
  }
}

function stateOf(
  { config: { enabled, unavailable }, models, modelsFailure, health }: Omit<ProviderFacts, 'attempts'>,
  now: number,
): ProviderState {
  if (!enabled) return { kind: 'off' }
  if (unavailable !== undefined) return { kind: 'unavailable', why: unavailable }
  // Until somebody asks it something else, that is all that is known of it.
  if (health === undefined)
    return models === undefined && modelsFailure !== undefined
      ? { kind: 'failing', why: `it has not told its models: ${modelsFailure}` }
      : { kind: 'ok' }
  if (health.unavailable !== undefined) return cooling(health.unavailable, health.failure, now)
  const soonest = soonestOfAll(models, health.models)
  if (soonest !== undefined) return cooling(soonest.unavailable, soonest.failure, now)
  return health.failure === undefined ? { kind: 'ok' } : { kind: 'failing', why: failureWords[health.failure] }
}

/** Where every model of a provider is left alone, so is the provider: the one that is asked again first. */
function soonestOfAll(
  models: readonly OfferedModel[] | undefined,
  left: readonly ModelHealth[],
): ModelHealth | undefined {
  if (models === undefined || models.length === 0) return undefined
  const ofModel = new Map(left.map((each) => [each.model, each]))
  const found = models.flatMap(({ upstream }) => ofModel.get(upstream) ?? [])
  if (found.length < models.length) return undefined
  return found.reduce((one, other) => (other.unavailable.remainingMs < one.unavailable.remainingMs ? other : one))
}

function cooling(
  { reason, remainingMs }: Unavailability,
  failure: FailureClass | undefined,
  now: number,
): ProviderState {
  const why = failure === undefined ? 'its last attempts failed' : failureWords[failure]
  return {
    kind: 'cooling',
    until: Math.round(now + remainingMs),
    why: reason === 'retry_after' ? `${why}: it asked to wait` : why,
  }
}

/** What clients call models, where that is known. A caller can make names up where it is not. */
function namesOf(left: readonly ModelHealth[], models: readonly OfferedModel[] = []): readonly string[] {
  const names = new Map(left.length === 0 ? [] : models.toReversed().map(({ name, upstream }) => [upstream, name]))
  return left.slice(0, modelsShownMost).map(({ model }) => names.get(model) ?? model)
}

function sumsOf({ count, ok, firstTokenP50, firstTokenP95 }: ProviderAttempts): AttemptSums {
  return {
    count,
    ok,
    ...(firstTokenP50 === undefined ? {} : { firstTokenP50 }),
    ...(firstTokenP95 === undefined ? {} : { firstTokenP95 }),
  }
}

/** What went wrong, for people (docs/failover.md, classes). */
const failureWords: Readonly<Record<FailureClass, string>> = {
  dns: 'its name is not found',
  connect: 'it cannot be reached',
  tls: 'no secure connection to it can be made',
  reset: 'it closes connections without an answer',
  timeout: 'it does not answer in time',
  informational: 'it sends too many interim responses',
  redirect: 'it redirects to another address',
  bad_request: 'it refused a request',
  context_length: 'a request was too long for it',
  content_policy: 'it rejected the content of a request',
  credential: 'it refuses the key',
  quota: 'the quota or credit of its key is used up',
  model_gone: 'it no longer has the model',
  conflict: 'it reported a conflict',
  request_timeout: 'it says that requests reach it too slowly',
  rate_limit: 'too many requests for its limit',
  server_error: 'it has errors of its own',
  overloaded: 'it is overloaded',
  unknown_status: 'it answers with a status nobody knows',
  malformed: 'its answers cannot be read',
  empty: 'its answers are empty',
  too_large: 'its answers are too large',
  cut: 'its answers break off',
  resources: 'this service was out of room',
}

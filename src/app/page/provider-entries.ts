import { findBrand } from '../../config/catalogue.ts'
import type { ProviderConfig } from '../../config/config.ts'
import type { OfferedModel, Price } from '../../formats/model.ts'
import type { AttemptSums, ProviderEntry, ProviderState } from '../../http/page/page-api.ts'
import type { ProviderAttempts } from '../../observe/provider-attempts.ts'
import type { FailureClass } from '../../service/failure.ts'
import type { Unavailability } from '../../service/health/health-state.ts'
import type { ModelHealth, ProviderHealth } from '../../service/health/health.ts'
import { ModelListError } from '../../upstream/list-models.ts'
import type { UnpricedModels } from '../unpriced-models.ts'

/** Limit of offered models, and of cooling models. */
const modelsShownMax = 1_000

/** Facts about one provider. */
export interface ProviderFacts {
  readonly config: ProviderConfig
  /** `undefined`: not listed yet. */
  readonly models: readonly OfferedModel[] | undefined
  /** Why listing its models failed. */
  readonly modelsFailure?: Error | undefined
  readonly unpriced?: UnpricedModels | undefined
  /** `undefined`: no request was sent yet. */
  readonly health: ProviderHealth | undefined
  readonly attempts: ProviderAttempts
}

/**
 * A provider as the page shows it, without key and headers.
 *
 * @param now Unix milliseconds
 */
export function providerEntry(
  { config, models, modelsFailure, unpriced, health, attempts }: ProviderFacts,
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
    ...(models === undefined ? {} : factsOf(models)),
    ...(unpriced === undefined
      ? {}
      : { unpriced: { models: unpriced.names.slice(0, modelsShownMax), areRefused: unpriced.areRefused } }),
    ...(attempts.lessons === undefined ? {} : { lessons: attempts.lessons }),
    attempts: sumsOf(attempts),
    ...(lastError === undefined
      ? {}
      : {
          lastError: {
            time: lastError.time,
            failure: lastError.failure,
            ...(lastError.reason === undefined ? {} : { detail: lastError.reason }),
            model: lastError.model,
            ...(lastError.status === undefined ? {} : { status: lastError.status }),
          },
        }),
  }
}

/** The names of models, their lowest price, and whether it is not the price of all. */
function factsOf(
  models: readonly OfferedModel[],
): Pick<ProviderEntry, 'models' | 'modelCount' | 'price' | 'hasOtherPrices'> {
  const named = { models: models.slice(0, modelsShownMax).map(({ name }) => name), modelCount: models.length }
  const prices = models.flatMap(({ price }) => price ?? [])
  const [first, ...others] = prices.toSorted((one, other) => sumOf(one) - sumOf(other))
  if (first === undefined) return named
  const { input, output, request } = first
  const areSame = prices.length === models.length && others.every((each) => sumOf(each) === sumOf(first))
  return {
    ...named,
    price: { input, output, ...(request === undefined ? {} : { request }) },
    ...(areSame ? {} : { hasOtherPrices: true }),
  }
}

function sumOf({ input, output, request = 0 }: Price): number {
  return input + output + request
}

function stateOf(
  { config: { enabled, lacks }, models, modelsFailure, health }: Omit<ProviderFacts, 'attempts'>,
  now: number,
): ProviderState {
  if (!enabled) return { kind: 'off' }
  if (lacks !== undefined) return { kind: 'unavailable', lacks }
  // Before the first request, only the model list is known.
  if (health === undefined) return modelsFailure === undefined ? { kind: 'ok' } : listed(modelsFailure, models)
  if (health.unavailable !== undefined) return cooling(health.unavailable, health.failure, now)
  const soonest = soonestOfAll(models, health.models)
  if (soonest !== undefined) return cooling(soonest.unavailable, soonest.failure, now)
  return health.failure === undefined ? { kind: 'ok' } : { kind: 'failing', failure: health.failure }
}

/** A refused key concerns more than the list. Any other failure matters only while there is no list. */
function listed(failure: Error, models: readonly OfferedModel[] | undefined): ProviderState {
  const isKeyRefused = failure instanceof ModelListError && failure.isKeyRefused
  if (!isKeyRefused && models !== undefined) return { kind: 'ok' }
  return { kind: 'failing', failure: isKeyRefused ? 'credential' : 'model_list', detail: failure.message }
}

/** If all models of a provider cool down, so does the provider, until its first model is available again. */
function soonestOfAll(
  models: readonly OfferedModel[] | undefined,
  healths: readonly ModelHealth[],
): ModelHealth | undefined {
  if (models === undefined || models.length === 0) return undefined
  const ofModel = new Map(healths.map((each) => [each.model, each]))
  const found = models.flatMap(({ upstream }) => ofModel.get(upstream) ?? [])
  if (found.length < models.length) return undefined
  return found.reduce((one, other) => (other.unavailable.remainingMs < one.unavailable.remainingMs ? other : one))
}

function cooling(
  { reason, remainingMs }: Unavailability,
  failure: FailureClass | undefined,
  now: number,
): ProviderState {
  return {
    kind: 'cooling',
    until: Math.round(now + remainingMs),
    ...(failure === undefined ? {} : { failure }),
    ...(reason === 'retry_after' ? { askedToWait: true } : {}),
  }
}

/** The clients' names of models. A model on no list is shown by the name that a caller asked for. */
function namesOf(healths: readonly ModelHealth[], models: readonly OfferedModel[] = []): readonly string[] {
  const names = new Map(healths.length === 0 ? [] : models.toReversed().map(({ name, upstream }) => [upstream, name]))
  return healths.slice(0, modelsShownMax).map(({ model }) => names.get(model) ?? model)
}

function sumsOf({ count, ok, firstTokenP50, firstTokenP95 }: ProviderAttempts): AttemptSums {
  return {
    count,
    ok,
    ...(firstTokenP50 === undefined ? {} : { firstTokenP50 }),
    ...(firstTokenP95 === undefined ? {} : { firstTokenP95 }),
  }
}

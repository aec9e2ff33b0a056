import type { RequestRecord } from '../record.ts'
import type { Alert } from './webhook.ts'

/** A model has no second alert within this time. */
const quietMs = 300_000
/** Models with an alert within {@link quietMs}. Callers may choose names at providers without a list. */
const modelsMax = 20

interface FailingModel {
  readonly alertedAt: number
  /** Unix milliseconds of the failure; `undefined`: it was served since. */
  failedAt: number | undefined
}

/** Finds models that no provider serves, and those that are served again, by the records of requests. */
export class FailingModels {
  readonly #models = new Map<string, FailingModel>()

  /** @returns an alert for the first request of a model that every provider failed, and for the next answer */
  add(record: RequestRecord): Alert | undefined {
    const isFailed = record.error === 'provider_error' && record.status >= 429 && record.provider === undefined
    if (isFailed && record.trail.length > 0) return this.#failed(record)
    if (this.#models.size === 0 || record.error !== undefined || record.provider === undefined) return undefined
    const name = nameOf(record)
    const model = this.#models.get(name)
    // A stream that began before says nothing.
    if (model?.failedAt === undefined || record.time < model.failedAt) return undefined
    const { failedAt } = model
    model.failedAt = undefined
    return {
      identity: `served ${name} ${record.id}`,
      type: 'model.served',
      data: { model: name, provider: record.provider, failing_since: new Date(failedAt).toISOString() },
    }
  }

  #failed(record: RequestRecord): Alert | undefined {
    const name = nameOf(record)
    const now = record.time + record.totalMs
    const known = this.#models.get(name)
    if (known !== undefined && Math.abs(now - known.alertedAt) < quietMs) return undefined
    if (known === undefined && this.#models.size >= modelsMax) {
      for (const [other, { alertedAt }] of this.#models) if (now - alertedAt >= quietMs) this.#models.delete(other)
      if (this.#models.size >= modelsMax) return undefined
    }
    this.#models.set(name, { alertedAt: now, failedAt: known?.failedAt ?? now })
    const providers = new Map(record.trail.map((attempt) => [attempt.name, attempt]))
    return {
      identity: `failing ${name} ${record.id}`,
      type: 'model.failing',
      data: {
        model: name,
        status: record.status,
        providers: Array.from(providers.values(), ({ name: id, failure, status }) => ({ id, class: failure, status })),
      },
    }
  }
}

function nameOf({ listedAs, model }: RequestRecord): string {
  return listedAs ?? model
}

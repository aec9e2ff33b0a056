import type { Config } from '../config.ts'

/**
 * The share of one worker in a limit, rounded up so that it is never 0. The sum of all shares exceeds the limit by less
 * than `workers` (docs/decisions/0009-many-processes.md).
 *
 * @param limit an integer, or infinity
 * @param workers from 1
 */
export function shareOf(limit: number, workers: number): number {
  return Math.ceil(limit / workers)
}

/**
 * The configuration of one worker: with its share of `max_concurrent`, of the service and of each provider, and of
 * `body_budget_bytes`.
 */
export function configOfWorker(config: Config, workers: number): Config {
  if (workers === 1) return config
  const { maxConcurrent, bodyBudgetBytes } = config.limits
  return {
    ...config,
    limits: {
      ...config.limits,
      ...(maxConcurrent === undefined ? {} : { maxConcurrent: shareOf(maxConcurrent, workers) }),
      ...(bodyBudgetBytes === undefined ? {} : { bodyBudgetBytes: shareOf(bodyBudgetBytes, workers) }),
    },
    providers: config.providers.map((provider) =>
      provider.maxConcurrent === undefined
        ? provider
        : { ...provider, maxConcurrent: shareOf(provider.maxConcurrent, workers) },
    ),
  }
}

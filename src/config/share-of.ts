import type { Config } from './config.ts'

/**
 * What one of several workers may have of a limit, rounded up: no worker is left with nothing, and together they may
 * have up to one less than `workers` more than `most` (docs/decisions/0009-many-processes.md).
 *
 * @param most a whole number, or infinity
 * @param workers from 1
 */
export function shareOf(most: number, workers: number): number {
  return Math.ceil(most / workers)
}

/**
 * The configuration for one of several workers: its share of `max_concurrent`, of the service and of each provider, and
 * of the budget of bodies.
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

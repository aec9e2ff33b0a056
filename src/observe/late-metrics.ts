import { withinMs } from '../service/within.ts'
import { registry, type MetricDescription, type Sample } from './registry.ts'

/*
 * Metrics that are read from a database or another process. One that does not answer within a second is left out, since
 * the others must not wait for it.
 */

const deadlineMs = 1_000

/** The newest entry of the audit: another machine keeps its chain, so that a cut end shows. */
const auditMetric: MetricDescription = {
  name: 'svc_audit_entries',
  kind: 'gauge',
  help: 'Number of the newest entry of the audit, with its chain; left out without an entry',
  labels: ['chain'],
}

const budgetMetric: MetricDescription = {
  name: 'svc_budget_used_ratio',
  kind: 'gauge',
  help: 'Part of a limit of money that is used or held: of everyone, a team or a provider',
  labels: ['for', 'per', 'models'],
}

/** Descriptions, for documentation. */
export const lateMetrics: readonly MetricDescription[] = [auditMetric, budgetMetric]

/** Reads the newest entry; `undefined` without one. */
export type ReadNewest = () => Promise<{ readonly seq: number; readonly chain: string } | undefined>

/** The metric of the audit as Prometheus text; empty if it cannot be read in time. */
export function auditMetricText(readNewest: ReadNewest): Promise<string> {
  return lateText(auditMetric, async () => {
    const newest = await readNewest()
    return newest === undefined ? undefined : [{ labels: [newest.chain], value: newest.seq }]
  })
}

/** A limit of money, in nano-USD. */
export interface BudgetAmounts {
  readonly subject: string
  readonly per: string
  readonly models: readonly string[] | undefined
  readonly amounts: { readonly limit: number; readonly used: number; readonly held: number } | undefined
}

/** The metric of budgets as Prometheus text; empty if they cannot be read in time. */
export function budgetMetricText(read: () => Promise<readonly BudgetAmounts[]>): Promise<string> {
  return lateText(budgetMetric, async () => {
    // Two entries may limit the same callers: the one with the least left counts.
    const samples = new Map<string, Sample>()
    for (const { subject, per, models, amounts } of await read()) {
      if (amounts === undefined || amounts.limit === 0) continue
      const labels = [subject, per, models?.join(' ') ?? '']
      const value = (amounts.used + amounts.held) / amounts.limit
      const known = samples.get(labels.join('\n'))?.value ?? 0
      samples.set(labels.join('\n'), { labels, value: Math.max(known, value) })
    }
    return samples.size === 0 ? undefined : [...samples.values()]
  })
}

async function lateText(
  { name, kind, help, labels }: MetricDescription,
  read: () => Promise<readonly Sample[] | undefined>,
): Promise<string> {
  const samples = await withinMs(
    read().catch(() => undefined),
    deadlineMs,
  )
  if (samples === undefined || kind === 'histogram') return ''
  const all = registry()
  all.observed(kind, name, help, labels, () => samples)
  return all.text()
}

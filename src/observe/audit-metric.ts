import { withinMs } from '../service/within.ts'
import { registry, type MetricDescription } from './registry.ts'

const deadlineMs = 1_000
const name = 'svc_audit_entries'
const help = 'Number of the newest entry of the audit, with its chain; left out without an entry'
const labels = ['chain']

/** The description of the metric, for documentation. */
export const auditMetric: MetricDescription = { name, kind: 'gauge', help, labels }

/** Reads the newest entry; `undefined` without one. */
export type ReadNewest = () => Promise<{ readonly seq: number; readonly chain: string } | undefined>

/**
 * The newest entry of the audit as Prometheus text, so that another machine keeps its chain: a cut end shows. Empty if
 * it cannot be read within a second, since the other metrics must not wait for the database.
 */
export async function auditMetricText(readNewest: ReadNewest): Promise<string> {
  const newest = await withinMs(
    readNewest().catch(() => undefined),
    deadlineMs,
  )
  if (newest === undefined) return ''
  const all = registry()
  all.observed('gauge', name, help, labels, () => [{ labels: [newest.chain], value: newest.seq }])
  return all.text()
}

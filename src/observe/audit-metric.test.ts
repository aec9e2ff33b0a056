import { describe, expect, test } from 'bun:test'
import { auditMetricText } from './audit-metric.ts'

describe('the newest entry of the audit in the metrics', () => {
  test('has its number and its chain', async () => {
    expect(await auditMetricText(async () => ({ seq: 7, chain: 'abc' }))).toBe(
      '# HELP svc_audit_entries Number of the newest entry of the audit, with its chain; left out without an entry\n' +
        '# TYPE svc_audit_entries gauge\nsvc_audit_entries{chain="abc"} 7\n',
    )
  })

  test('is left out without an entry, and when it cannot be read', async () => {
    expect(await auditMetricText(async () => undefined)).toBe('')
    expect(await auditMetricText(() => Promise.reject(new Error('the database is locked')))).toBe('')
  })
})

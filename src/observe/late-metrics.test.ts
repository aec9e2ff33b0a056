import { describe, expect, test } from 'bun:test'
import { auditMetricText, budgetMetricText } from './late-metrics.ts'

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

describe('limits of money in the metrics', () => {
  const budget = { subject: 'everyone', per: 'day', models: undefined, amounts: { limit: 8, used: 3, held: 1 } }

  test('have the used and held part; of two for the same callers the one with the least left', async () => {
    const models = ['gpt-*', 'o3']
    const text = await budgetMetricText(async () => [
      budget,
      { ...budget, amounts: { limit: 5, used: 1, held: 0 } },
      { ...budget, subject: 'team:red', models, amounts: { limit: 2, used: 3, held: 0 } },
    ])
    expect(text.split('\n').slice(2)).toEqual([
      'svc_budget_used_ratio{for="everyone",per="day",models=""} 0.5',
      'svc_budget_used_ratio{for="team:red",per="day",models="gpt-* o3"} 1.5',
      '',
    ])
  })

  test('are left out without an amount, and when they cannot be read', async () => {
    const nothing = { ...budget, amounts: { limit: 0, used: 0, held: 0 } }
    expect(await budgetMetricText(async () => [nothing, { ...budget, amounts: undefined }])).toBe('')
    expect(await budgetMetricText(() => Promise.reject(new Error('the store is away')))).toBe('')
  })
})

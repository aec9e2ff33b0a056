import { describe, expect, test } from 'bun:test'
import { sumOf, type UsageSum } from './usage-sums.ts'
import { costOf, filledColumns } from './usage-table.tsx'

describe('columns of the table', () => {
  const sum = (more: Partial<UsageSum>): UsageSum => ({ ...sumOf('m', []), ...more })
  const names = (...sums: readonly UsageSum[]) => filledColumns(sums).map(({ name }) => name)

  test('are those with a value', () => {
    expect(names(sum({}))).toEqual(['requests', 'cost'])
    expect(names(sum({ errors: 1 }), sum({ outputTokens: 2 }))).toEqual(['requests', 'errors', 'output', 'cost'])
  })

  test('split the cost only where a part of it is reported or estimated', () => {
    expect(names(sum({ cost: 2 }), sum({ cost: 0.1 }))).toEqual(['requests', 'cost'])
    expect(names(sum({ cost: 2 }), sum({ cost: 3, reportedCost: 3 }))).toEqual([
      'requests',
      'priced',
      'reported',
      'cost',
    ])
    expect(names(sum({ cost: 3, estimatedCost: 1 }))).toEqual(['requests', 'priced', 'estimated', 'cost'])
  })
})

test('the cost of answers without any price is not 0, but unknown', () => {
  expect([costOf({ cost: 0, unpriced: 0 }), costOf({ cost: 2, unpriced: 1 })]).toEqual(['$0', '$2.00'])
  expect(costOf({ cost: 0, unpriced: 2 })).toBe('unknown')
})

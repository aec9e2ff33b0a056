import { describe, expect, test } from 'bun:test'
import { sumOf, type UsageSum } from './usage-sums.ts'
import { filledColumns } from './usage-table.tsx'

describe('columns of the table', () => {
  const sum = (more: Partial<UsageSum>): UsageSum => ({ ...sumOf('m', []), ...more })
  const titles = (...sums: readonly UsageSum[]) => filledColumns(sums).map(({ title }) => title)

  test('are those with a value', () => {
    expect(titles(sum({}))).toEqual(['Requests', 'Cost'])
    expect(titles(sum({ errors: 1 }), sum({ outputTokens: 2 }))).toEqual(['Requests', 'Errors', 'Output', 'Cost'])
  })

  test('split the cost only where a part of it is reported or estimated', () => {
    expect(titles(sum({ cost: 2 }), sum({ cost: 0.1 }))).toEqual(['Requests', 'Cost'])
    expect(titles(sum({ cost: 2 }), sum({ cost: 3, reportedCost: 3 }))).toEqual([
      'Requests',
      'Priced',
      'Reported',
      'Cost',
    ])
    expect(titles(sum({ cost: 3, estimatedCost: 1 }))).toEqual(['Requests', 'Priced', 'Estimated', 'Cost'])
  })
})

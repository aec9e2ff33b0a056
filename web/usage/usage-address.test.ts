import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  readUsageChoice,
  usageGroups,
  usageMeasures,
  visibleChoice,
  writeUsageChoice,
  type UsageChoice,
} from './usage-address.ts'
import { ownRange, usageRanges } from './usage-sums.ts'

describe('what the view of use shows', () => {
  test('is read from the address as it was written', () => {
    const own = ownRange('2026-11-01', '2026-11-15')
    if (own === undefined) throw new Error('there is no range')
    const choices = fc.record(
      {
        range: fc.constantFrom<UsageChoice['range']>(...usageRanges, own),
        by: fc.constantFrom(...(Object.keys(usageGroups) as UsageChoice['by'][])),
        measure: fc.constantFrom(...(Object.keys(usageMeasures) as UsageChoice['measure'][])),
        team: fc.string({ minLength: 1, unit: 'binary' }),
      },
      { requiredKeys: ['range', 'by', 'measure'] },
    )
    fc.assert(
      fc.property(choices, (choice) => {
        expect(readUsageChoice(`#/usage?${writeUsageChoice(choice)}`)).toEqual(choice)
      }),
    )
  })

  test('is a week by model by default, which the address leaves out', () => {
    const choice = readUsageChoice('#/usage')
    expect(choice).toEqual({ range: usageRanges[1], by: 'model', measure: 'cost' })
    expect(writeUsageChoice(choice)).toBe('')
  })

  test.each([
    '#/usage?time=1y&by=__proto__&chart=constructor',
    '#/usage?from=2026-11-15&to=2026-11-01',
    '#/usage?from=2026-02-30&to=2026-03-01',
    '#/usage?from=1900-01-01&to=2026-03-01',
    '#/usage?from=%00&to=',
  ])('is the default for %s', (hash) => {
    expect(readUsageChoice(hash)).toEqual(readUsageChoice(''))
  })

  const byTeam = readUsageChoice('#/usage?by=team&team=search')
  test.each([
    ['an owner', true, ['search'], byTeam, { by: 'model', team: 'search' }],
    ['an owner, of all', true, ['search'], readUsageChoice('#/usage?by=team'), { by: 'team' }],
    ['a lead of another team', false, ['ads'], byTeam, { by: 'model' }],
  ])('is only what a person may see: %s', (_, isOwner, teams, choice, shown) => {
    const { range, measure, ...visible } = visibleChoice(choice, isOwner, teams)
    expect<object>(visible).toEqual(shown)
  })
})

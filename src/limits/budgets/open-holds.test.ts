import { expect, test } from 'bun:test'
import { personOf } from '../../people/testing.ts'
import { OpenHolds, type HeldPlace } from './open-holds.ts'

test('holds are summed by all that their cost is booked for', () => {
  const holds = new OpenHolds()
  const place: HeldPlace = { line: -5, person: undefined, model: 'm', provider: 'a' }
  const add = (facts: Partial<HeldPlace>) => holds.add({ place: { ...place, ...facts }, nanoUsd: 2 })
  add({ team: 'ads' })
  add({ team: 'ads' })
  // A key of access.json that has another team now.
  add({ team: 'search' })
  add({ person: personOf({ user: 'ann', userId: 'u1', subject: 'first-1' }) })
  add({ person: personOf({ user: 'ann', userId: 'u1', subject: 'other-1' }) })
  expect(holds.sums()?.map(({ attempts, nanoUsd }) => [attempts, nanoUsd])).toEqual([
    [2, 4],
    [1, 2],
    [1, 2],
    [1, 2],
  ])
})

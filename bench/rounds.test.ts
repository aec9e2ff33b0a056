import { describe, expect, test } from 'bun:test'
import type { Contender, Measure, MeasureSetting } from './measures/measure.ts'
import { rotated, runMeasure } from './rounds.ts'

const setting: MeasureSetting = {
  seconds: 1,
  loadCore: 0,
  warmUp: () => Promise.resolve(),
  startFresh: () => Promise.reject(new Error('not needed')),
  launch: () => Promise.reject(new Error('not needed')),
}

function contender(name: string, canStream = true): Contender {
  return { name, port: 1, headers: {}, canStream }
}

function measureOf(changes: Partial<Measure>): Measure {
  return {
    name: 'plain',
    includesDirect: true,
    peersOnce: false,
    needsStreams: false,
    run: () => Promise.resolve({ perSecond: 1 }),
    ...changes,
  }
}

const field = [contender('direct'), contender('nginx'), contender('svc'), contender('llms-py', false)]

async function namesOf(measure: Measure, rounds: number): Promise<readonly string[]> {
  const { measurements } = await runMeasure(measure, field, rounds, setting, () => undefined)
  return measurements.map(({ round, proxy }) => `${proxy} ${round}`).toSorted()
}

describe('runMeasure', () => {
  test.each([
    {
      name: 'measures every proxy in every round',
      changes: {},
      rounds: 1,
      expected: ['direct 1', 'llms-py 1', 'nginx 1', 'svc 1'],
    },
    {
      name: 'leaves the upstream out where it says nothing',
      changes: { includesDirect: false },
      rounds: 1,
      expected: ['llms-py 1', 'nginx 1', 'svc 1'],
    },
    {
      name: 'leaves out who does not stream where streams are needed',
      changes: { needsStreams: true },
      rounds: 1,
      expected: ['direct 1', 'nginx 1', 'svc 1'],
    },
    {
      name: 'measures others once where it says so',
      changes: { peersOnce: true, includesDirect: false },
      rounds: 2,
      expected: ['llms-py 1', 'nginx 1', 'svc 1', 'svc 2'],
    },
  ])('$name', async ({ changes, rounds, expected }) => {
    expect(await namesOf(measureOf(changes), rounds)).toEqual(expected)
  })

  test('runs fewer rounds of a measure that takes long, and of some proxies only', async () => {
    expect(await namesOf(measureOf({ roundsMax: 2, only: ['svc'] }), 3)).toEqual(['svc 1', 'svc 2'])
  })

  test('leaves out a proxy that failed, with the reason', async () => {
    const run: Measure['run'] = ({ name }, round) =>
      name === 'nginx' && round === 2 ? Promise.reject(new Error('cut')) : Promise.resolve({ perSecond: round })
    const { measurements, notes } = await runMeasure(measureOf({ run }), field, 3, setting, () => undefined)
    expect(measurements.filter(({ proxy }) => proxy === 'nginx').map(({ round }) => round)).toEqual([1])
    expect(notes).toEqual(['nginx, plain, round 2: cut'])
  })
})

describe('rotated', () => {
  test.each([
    { round: 1, expected: ['b', 'c', 'a'] },
    { round: 3, expected: ['a', 'b', 'c'] },
  ])('begins with another item in round $round', ({ round, expected }) => {
    expect(rotated(['a', 'b', 'c'], round)).toEqual(expected)
  })
})

import { describe, expect, test } from 'bun:test'
import type { Measurement } from './measures/measure.ts'
import { added, judge, perRound, ratio, targets, type Target } from './targets.ts'

function cpu(round: number, proxy: string, value: number): Measurement {
  return { measure: 'plain', round, proxy, metric: 'cpuUs', value }
}

const againstNginx: Target = {
  title: 'CPU',
  unit: '×',
  limit: 2.5,
  limitIs: 'most',
  measure: 'plain',
  figure: (of) => ratio(of('svc', 'cpuUs'), of('nginx', 'cpuUs')),
}

describe('judge', () => {
  test('takes the median of the ratios of each round, not the ratio of the medians', () => {
    const measurements = [
      cpu(1, 'svc', 20),
      cpu(1, 'nginx', 10),
      cpu(2, 'svc', 90),
      cpu(2, 'nginx', 30),
      cpu(3, 'svc', 44),
      cpu(3, 'nginx', 20),
    ]
    expect(judge(againstNginx, measurements).summary).toEqual({ median: 2.2, min: 2, max: 3, count: 3 })
  })

  test.each([
    { svc: 25, limitIs: 'most', text: 'met' },
    { svc: 26, limitIs: 'most', text: 'missed by 4 %' },
    { svc: 25.1, limitIs: 'most', text: 'missed by 0.4 %' },
    { svc: 25, limitIs: 'least', text: 'met' },
    { svc: 20, limitIs: 'least', text: 'missed by 20 %' },
  ] as const)('says "$text" of $svc against 25 at $limitIs', ({ svc, limitIs, text }) => {
    const verdict = judge({ ...againstNginx, limitIs }, [cpu(1, 'svc', svc), cpu(1, 'nginx', 10)])
    expect(verdict.text).toBe(text)
    expect(verdict.isMet).toBe(text === 'met')
  })

  test('is not measured when a part is missing', () => {
    expect(judge(againstNginx, [cpu(1, 'svc', 20)])).toMatchObject({
      isMet: false,
      text: 'not measured',
      summary: undefined,
    })
  })

  test('leaves out the rounds in which a part is missing', () => {
    const measurements = [cpu(1, 'svc', 20), cpu(1, 'nginx', 10), cpu(2, 'svc', 90)]
    expect(judge(againstNginx, measurements).summary?.count).toBe(1)
  })
})

describe('perRound', () => {
  test('reads its own measure only', () => {
    const other: Measurement = { ...cpu(1, 'svc', 1), measure: 'paced-64' }
    expect(perRound('plain', [other], (of) => of('svc', 'cpuUs'))).toEqual([])
  })
})

describe('added', () => {
  const of = (proxy: string): number | undefined => ({ direct: 20, svc: 220 })[proxy]

  test('is the time through a proxy less that of the upstream', () => {
    expect(added(of, 'svc')).toBe(200)
  })

  test('is unknown without both', () => {
    expect(added(of, 'nginx')).toBeUndefined()
  })
})

describe('ratio', () => {
  test.each([0, -3, undefined])('is undefined for a divisor of %p', (divisor) => {
    expect(ratio(5, divisor)).toBeUndefined()
  })
})

describe('targets', () => {
  test('are all missed or not measured without measurements', () => {
    expect(targets.map((target) => judge(target, []).text)).toEqual(targets.map(() => 'not measured'))
  })
})

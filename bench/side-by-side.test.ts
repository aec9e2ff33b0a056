import { describe, expect, test } from 'bun:test'
import type { Measurement } from './measures/measure.ts'
import type { BenchRun, ProxyNote } from './report.ts'
import {
  figures,
  sideBySideMarkdown,
  speedMarkdown,
  comparisonOf,
  comparisonSentence,
  comparisonTable,
  type Figure,
} from './side-by-side.ts'

function note(name: string, kind: NonNullable<ProxyNote['kind']>, installedMb?: number): ProxyNote {
  const facts =
    installedMb === undefined
      ? {}
      : { installed: { bytes: installedMb * 1e6, runtimeBytes: 5e6, dependencies: installedMb } }
  return { name, kind, version: `${name}/1`, setup: 'as is', ...facts }
}

function rates(values: Readonly<Record<string, number>>, round = 1): readonly Measurement[] {
  return Object.entries(values).map(([proxy, value]) => ({
    measure: 'plain',
    round,
    proxy,
    metric: 'perSecond',
    value,
  }))
}

function runOf(measurements: readonly Measurement[], notes: readonly string[] = []): BenchRun {
  const proxies = [
    { name: 'direct', version: 'bun/1', setup: 'itself' },
    note('nginx', 'relay'),
    note('svc', 'service', 40),
    note('portkey', 'gateway', 30),
    note('litellm', 'gateway'),
  ]
  const machine = { processor: 'CPU', cores: 2, memoryGb: 8, kernel: '6.1.0', system: 'Debian', loadBefore: 0.25 }
  return {
    date: '2026-01-02',
    machine,
    stealPercent: 0,
    rounds: 1,
    seconds: 2,
    measures: ['plain'],
    proxies,
    notes,
    measurements,
  }
}

const ratePerSecond: Figure = {
  title: 'requests/s',
  better: 'more',
  value: (run, proxy) => run.measurements.find((one) => one.proxy === proxy)?.value,
}

describe('comparisonOf', () => {
  test.each([
    { values: { svc: 50, portkey: 5, litellm: 1, nginx: 200 }, rank: 1, ranked: 3, ahead: [], best: 'nginx' },
    {
      values: { svc: 50, portkey: 60, litellm: 1, nginx: 20 },
      rank: 2,
      ranked: 3,
      ahead: ['portkey'],
      best: 'portkey',
    },
    { values: { svc: 50, portkey: 50 }, rank: 1, ranked: 2, ahead: [], best: 'svc' },
    { values: { portkey: 60, litellm: 1 }, rank: undefined, ranked: 2, ahead: [], best: 'portkey' },
    { values: {}, rank: undefined, ranked: 0, ahead: [], best: undefined },
  ])('of $values among gateways is $rank of $ranked', ({ values, ...expected }) => {
    expect(comparisonOf(ratePerSecond, runOf(rates(values)))).toMatchObject(expected)
  })

  test('ranks the lowest first where less is better', () => {
    expect(
      comparisonOf({ ...ratePerSecond, better: 'less' }, runOf(rates({ svc: 50, portkey: 60, litellm: 1 }))),
    ).toMatchObject({ rank: 2, ahead: ['litellm'], best: 'litellm' })
  })

  test('does not count the upstream itself', () => {
    expect(comparisonOf(ratePerSecond, runOf(rates({ direct: 1000, svc: 50 })))).toMatchObject({
      rank: 1,
      ranked: 1,
      best: 'svc',
    })
  })
})

describe('figures', () => {
  const named = (title: string): Figure => figures.find((figure) => figure.title === title) ?? ratePerSecond

  test('are medians over the rounds', () => {
    const run = runOf([...rates({ svc: 10 }, 1), ...rates({ svc: 90 }, 2), ...rates({ svc: 20 }, 3)])
    expect(named('plain, 64 at once: requests/s').value(run, 'svc')).toBe(20)
  })

  test('of added time are those through the proxy less the upstream’s own', () => {
    const p99 = (proxy: string, value: number): Measurement => ({
      measure: 'latency',
      round: 1,
      proxy,
      metric: 'p99Us',
      value,
    })
    expect(
      named('plain, one at a time: added ms p99').value(runOf([p99('direct', 100), p99('svc', 2100)]), 'svc'),
    ).toBe(2)
  })

  test.each([
    { title: 'installed, MB', expected: 30 },
    { title: 'installed with its runtime, MB', expected: 35 },
    { title: 'dependencies', expected: 30 },
  ])('include $title', ({ title, expected }) => {
    expect(named(title).value(runOf([]), 'portkey')).toBe(expected)
    expect(named(title).value(runOf([]), 'litellm')).toBeUndefined()
  })
})

describe('figures at a fixed rate', () => {
  const atRate = (proxy: string, keptPercent: number): readonly Measurement[] =>
    Object.entries({ cpuUs: 300, keptPercent }).map(([metric, value]) => ({
      measure: 'rate-1000',
      round: 1,
      proxy,
      metric,
      value,
    }))

  test('are left out for a proxy that did not keep it', () => {
    const run = runOf([...atRate('svc', 99.8), ...atRate('litellm', 12)])
    const cpu = figures.find((figure) => figure.title === 'plain, 1,000 a second: CPU µs a request')
    expect(cpu?.value(run, 'svc')).toBe(300)
    expect(cpu?.value(run, 'litellm')).toBeUndefined()
  })
})

describe('speedMarkdown', () => {
  const run = runOf(rates({ svc: 50, nginx: 200 }))
  const text = speedMarkdown({ ...run, proxies: run.proxies.filter(({ kind }) => kind !== 'gateway') })

  test('has ratios but no ranks without gateways', () => {
    expect(text).toMatch(/\| +\| +\*\*svc\*\* +\| +nginx +\| +svc ÷ nginx +\|/)
    expect(text).toMatch(/requests\/s +\| +50 +\| +200 +\| +0\.250 +\|/)
  })

  test('has the targets', () => {
    expect(text).toContain('resident memory at rest')
  })
})

describe('comparisonTable', () => {
  const cells = (figure: Figure, values: Readonly<Record<string, number>>): readonly (readonly string[])[] => {
    const run = runOf(rates(values))
    return comparisonTable([comparisonOf(figure, run)], run.proxies)
      .split('\n')
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
  }

  test('has the service first, then gateways, then relays', () => {
    expect(cells(ratePerSecond, {})[0]).toEqual([
      '',
      '**svc**',
      'portkey',
      'litellm',
      'nginx',
      'svc among gateways',
      'best of all',
      'svc ÷ nginx',
    ])
  })

  test('shows the rank of the service and the gateways ahead of it', () => {
    expect(cells(ratePerSecond, { svc: 50, portkey: 60, nginx: 200 })[2]).toEqual([
      'requests/s',
      '50',
      '60',
      '–',
      '200',
      '2 of 2, behind portkey',
      'nginx',
      '0.250',
    ])
  })

  test('writes a value at its limit as more than', () => {
    expect(cells({ ...ratePerSecond, most: 60 }, { svc: 59, portkey: 60 })[2]?.slice(1, 3)).toEqual(['59', '> 60.0'])
  })
})

describe('comparisonSentence', () => {
  const sentence = (...values: readonly Readonly<Record<string, number>>[]): string =>
    comparisonSentence(values.map((one) => comparisonOf(ratePerSecond, runOf(rates(one)))))

  test('counts the figures in which no gateway is ahead', () => {
    expect(sentence({ svc: 2, portkey: 1 }, { svc: 3, litellm: 1 })).toBe(
      '**svc is ahead of every gateway in 2 of 2 figures.**',
    )
  })

  test('names the other figures, with the gateways ahead', () => {
    expect(sentence({ svc: 2, portkey: 1 }, { svc: 2, portkey: 3 })).toEndWith(
      'in 1 of 2 figures.** Not in: requests/s (portkey).',
    )
  })

  test('does not count a figure without a gateway', () => {
    expect(sentence({ svc: 2, nginx: 5 }, { portkey: 2 })).toContain('0 of 0')
  })
})

describe('sideBySideMarkdown', () => {
  test('has date, versions, and missing proxies with the reason', () => {
    const text = sideBySideMarkdown(runOf(rates({ svc: 5, portkey: 2 }), ['bifrost is left out: go not installed']))
    expect(text).toContain('2026-01-02, medians of 1 round of 2 s.')
    expect(text).toContain('portkey/1')
    expect(text).toContain('- bifrost is left out: go not installed')
  })

  test('has no line for a figure without values', () => {
    expect(sideBySideMarkdown(runOf(rates({ svc: 5 })))).not.toContain('cold start')
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { boundedLabel, registry } from './registry.ts'
import { parseMetrics } from './testing.ts'

describe('registry', () => {
  test('writes counters, gauges and histograms in the text format', () => {
    const all = registry()
    const counter = all.counter('requests_total', 'Requests', ['model', 'status'])
    counter.with('gpt-4o', '200').add()
    counter.with('gpt-4o', '200').add(2)
    counter.with('gpt-4o', '502').add(0.5)
    const gauge = all.gauge('streams_open', 'Streams').with()
    gauge.add(3)
    gauge.add(-1)
    const histogram = all.histogram('seconds', 'Time', ['provider'], [0.1, 1]).with('groq')
    for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value)
    all.observed('gauge', 'memory_bytes', 'Memory', [], () => [{ labels: [], value: 42 }])
    expect(all.text()).toBe(`# HELP requests_total Requests
# TYPE requests_total counter
requests_total{model="gpt-4o",status="200"} 3
requests_total{model="gpt-4o",status="502"} 0.5
# HELP streams_open Streams
# TYPE streams_open gauge
streams_open 2
# HELP seconds Time
# TYPE seconds histogram
seconds_bucket{provider="groq",le="0.1"} 2
seconds_bucket{provider="groq",le="1"} 3
seconds_bucket{provider="groq",le="+Inf"} 4
seconds_sum{provider="groq"} 7.65
seconds_count{provider="groq"} 4
# HELP memory_bytes Memory
# TYPE memory_bytes gauge
memory_bytes 42
`)
  })

  test('has a metric without labels from the beginning, and ignores invalid amounts', () => {
    const all = registry()
    const counter = all.counter('total', 'Total').with()
    for (const amount of [-1, NaN, Infinity]) counter.add(amount)
    all.histogram('seconds', 'Time', [], [1]).with().observe(NaN)
    expect(all.text()).toContain('\ntotal 0\n')
    expect(all.text()).toContain('\nseconds_count 0\n')
  })

  test('keeps any characters of label values and help', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom('\\', '"', '\n', '\\n', '\\"', '"} 1\nfake 2', 'a\\'),
    )
    fc.assert(
      fc.property(text, text, text, fc.double(), (help, one, other, value) => {
        const all = registry()
        all.gauge('a_metric', help, ['one', 'other']).with(one, other).set(value)
        all.histogram('b_seconds', help, ['one'], [1]).with(one).observe(0.5)
        const families = parseMetrics(all.text())
        expect([...families.keys()]).toEqual(['a_metric', 'b_seconds'])
        expect(families.get('a_metric')).toEqual({
          type: 'gauge',
          help: help.toWellFormed(),
          samples: [
            {
              name: 'a_metric',
              labels: { one: one.toWellFormed(), other: other.toWellFormed() },
              value: Object.is(value, -0) ? 0 : value,
            },
          ],
        })
        expect(families.get('b_seconds')?.samples.map(({ value }) => value)).toEqual([1, 1, 0.5, 1])
      }),
    )
  })
})

test('parseMetrics rejects malformed text', () => {
  for (const bad of [
    'a 1',
    '# TYPE a gauge\na{x="1} 2\n',
    '# TYPE a gauge\na{x="\\q"} 1\n',
    '# TYPE a gauge\na 1 \n',
    '# TYPE a gauge\nb 1\n',
    '# TYPE a gauge\na one\n',
    '# TYPE a gauge\na 1\na 1\n',
    '# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
  ]) {
    expect(() => parseMetrics(bad)).toThrow()
  }
})

describe('boundedLabel', () => {
  test('maps values after the first few to `other`, and keeps the first', () => {
    const bound = boundedLabel(2)
    expect(['a', 'b', 'c', 'a', 'b', 'd'].map(bound)).toEqual(['a', 'b', 'other', 'a', 'b', 'other'])
  })
  test('cuts long values', () => {
    expect(boundedLabel(2)('x'.repeat(1_000))).toHaveLength(128)
  })
})

import { describe, expect, test } from 'bun:test'
import { formatTrail } from '../../src/service/trail.ts'
import { figuresOf, parseTrail, provenanceOf, withRecord } from './provenance.ts'

describe('parseTrail', () => {
  test('parses the header of the service', () => {
    const written = formatTrail([
      { name: 'groq', status: 429, failure: 'rate_limit', ms: 12.4 },
      { name: 'local', failure: 'connect', ambiguous: true, ms: 3 },
      { name: 'openai', status: 200, ms: 340 },
    ])
    expect(parseTrail(written)).toEqual([
      { provider: 'groq', status: 429, failure: 'rate_limit', ms: 12 },
      { provider: 'local', failure: 'connect', ms: 3 },
      { provider: 'openai', status: 200, ms: 340 },
    ])
  })

  test.each(['', ' ', ',', ';;', ' , ;status=1'])('finds nothing in %p', (header) => {
    expect(parseTrail(header)).toEqual([])
  })

  test('ignores malformed fields', () => {
    expect(parseTrail('a;status=x;ms=y')).toEqual([{ provider: 'a', ms: 0 }])
  })
})

describe('provenanceOf', () => {
  test('reads the headers', () => {
    const headers = new Headers({
      'x-svc-provider': 'openai',
      'x-svc-model': 'm%C3%B6del',
      'x-svc-trail': 'openai;status=200;ms=3',
    })
    expect(provenanceOf({ requestId: 'r', totalMs: 9 }, headers)).toEqual({
      requestId: 'r',
      totalMs: 9,
      provider: 'openai',
      model: 'mödel',
      trail: [{ provider: 'openai', status: 200, ms: 3 }],
    })
  })

  test('has the measurements if there are no headers', () => {
    expect(provenanceOf({ requestId: 'r', firstTokenMs: 1 })).toEqual({ requestId: 'r', firstTokenMs: 1, trail: [] })
  })
})

describe('withRecord', () => {
  test('prefers the record, and keeps members that it lacks', () => {
    const before = { requestId: 'r', model: 'gpt-x', trail: [], promptTokens: 7, firstTokenMs: 5, totalMs: 8 }
    const record = {
      time: 0,
      id: 'r',
      model: 'm',
      api: 'chat',
      stream: true,
      status: 200,
      provider: 'openai',
      trail: [{ provider: 'openai', status: 200, ms: 3 }],
      totalMs: 6,
      completionTokens: 2,
      cost: 0.5,
      isEstimated: true as const,
    }
    expect(withRecord(before, record)).toEqual({
      requestId: 'r',
      model: 'gpt-x',
      provider: 'openai',
      trail: record.trail,
      promptTokens: 7,
      completionTokens: 2,
      firstTokenMs: 5,
      totalMs: 6,
      cost: 0.5,
      isEstimated: true,
    })
  })

  test('drops the model name if another provider resumed the answer', () => {
    const before = { requestId: 'r', provider: 'groq', model: 'llama-versatile', trail: [] }
    const after = withRecord(before, {
      time: 0,
      id: 'r',
      model: 'llama',
      api: 'chat',
      stream: true,
      status: 200,
      provider: 'openai',
      trail: [],
      totalMs: 6,
    })
    expect(after).toEqual({ requestId: 'r', provider: 'openai', trail: [], totalMs: 6 })
  })
})

test.each([
  ['llama-4 · 1.2 s · $0.00007', { model: 'llama-4', totalMs: 1_240, cost: 0.00007 }],
  ['llama-4 · ≈$0.00007', { model: 'llama-4', cost: 0.00007, isEstimated: true as const }],
  ['', {}],
])('the figures of an answer are %p', (line, figures) => {
  expect(figuresOf({ requestId: 'r', trail: [], ...figures })).toBe(line)
})

import { describe, expect, test } from 'bun:test'
import type { RequestRecord } from '../record.ts'
import { FailingModels } from './failing-models.ts'

const minute = 60_000
let count = 0

function served(time: number, more: Partial<RequestRecord> = {}): RequestRecord {
  const trail = [{ name: 'b', status: 200, ms: 5 }]
  const facts = { id: `r${(count += 1)}`, api: 'chat', model: 'm', listedAs: 'm', stream: false, totalMs: 10 }
  return { ...facts, time, status: 200, provider: 'b', trail, ...more }
}

function failed(time: number, more: Partial<RequestRecord> = {}): RequestRecord {
  const trail = [
    { name: 'a', status: 500, failure: 'server_error', ms: 5 },
    { name: 'b', failure: 'connection', ms: 5 },
  ]
  return served(time, { status: 502, error: 'provider_error', provider: undefined, trail, ...more })
}

describe('a model that every provider fails', () => {
  test('has one alert within five minutes, and one when it is served again', () => {
    const models = new FailingModels()
    expect(models.add(served(0))).toBeUndefined()
    expect(models.add(failed(0))).toMatchObject({
      type: 'model.failing',
      data: {
        ...{ model: 'm', status: 502 },
        providers: [
          { id: 'a', class: 'server_error', status: 500 },
          { id: 'b', class: 'connection' },
        ],
      },
    })
    expect(models.add(failed(minute))).toBeUndefined()
    expect(models.add(failed(0, { listedAs: 'n' }))?.data['model']).toBe('n')
    expect(models.add(served(2 * minute))).toMatchObject({
      type: 'model.served',
      data: { model: 'm', provider: 'b', failing_since: '1970-01-01T00:00:00.010Z' },
    })
    expect(models.add(served(2 * minute))).toBeUndefined()
    expect(models.add(failed(3 * minute))).toBeUndefined()
    expect(models.add(served(3 * minute))).toBeUndefined()
    expect(models.add(failed(5 * minute))?.type).toBe('model.failing')
  })

  test('keeps the time of its first failure while it is not served', () => {
    const models = new FailingModels()
    models.add(failed(0))
    expect(models.add(failed(6 * minute))?.type).toBe('model.failing')
    expect(models.add(served(7 * minute))?.data['failing_since']).toBe('1970-01-01T00:00:00.010Z')
  })

  test('is not served again by an answer to a request from before', () => {
    const models = new FailingModels()
    models.add(failed(1_000))
    expect(models.add(served(500, { totalMs: minute }))).toBeUndefined()
    expect(models.add(served(2_000))?.type).toBe('model.served')
  })

  test.each<[string, Partial<RequestRecord>]>([
    ['a request that every provider refuses', { status: 400 }],
    ['a stream that is cut', { status: 200, provider: 'a' }],
    ['a used up budget', { status: 429, error: 'insufficient_quota' }],
    ['a full service', { status: 503, error: 'overloaded', trail: [] }],
    ['a caller that leaves', { status: 499, error: 'client_left' }],
  ])('is not found by %s', (_, record) => {
    expect(new FailingModels().add(failed(0, record))).toBeUndefined()
  })

  test('is one of at most twenty within five minutes: callers may invent names', () => {
    const models = new FailingModels()
    const alerts = (time: number) =>
      Array.from({ length: 150 }, (_, name) => models.add(failed(time, { listedAs: `m${name}` }))).filter(Boolean)
    expect(alerts(0)).toHaveLength(20)
    expect(alerts(minute)).toHaveLength(0)
    expect(alerts(5 * minute)).toHaveLength(20)
  })
})

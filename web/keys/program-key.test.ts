import { describe, expect, test } from 'bun:test'
import type { ApiClient } from '../api/client.ts'
import { makeProgramKey } from './program-key.ts'

const key = { name: 'indexer', models: ['bge-m3'], days: 90, usd: '$10', per: 'month' }

/** A client with answers by path; it records all requests. */
function client(answers: Readonly<Record<string, unknown>>) {
  const sent: unknown[] = []
  const answerTo = (path: string, body?: unknown): unknown => {
    sent.push(body === undefined ? path : [path, body])
    const answer = answers[path]
    if (answer instanceof Error) throw answer
    return answer
  }
  const fake = {
    post: async (path: string, body: unknown) => answerTo(path, body),
    fetch: async (path: string) => answerTo(path),
  }
  // It has the methods that are called.
  return { sent, client: fake as unknown as ApiClient }
}

const draft = { base: { version: 'v' }, text: 'T', faults: [] }
const limit = (line: number) => ({ limit: { for: `key:${line}`, usd: 10, per: 'month' } })
const made = { id: 7, line: 7, key: 'sk' }
const asked = ['/v1/keys', { name: 'indexer', days: 90, models: ['bge-m3'] }]

describe('a key of a program', () => {
  test('is made with its limit, which is checked before', async () => {
    const { client: fake, sent } = client({ '/api/limits/draft': draft, '/v1/keys': made })
    expect(await makeProgramKey(fake, key)).toMatchObject({ id: 7 })
    expect(sent).toEqual([
      ['/api/limits/draft', limit(999_999_999_999_999)],
      asked,
      ['/api/limits/draft', limit(7)],
      ['/api/limits/file', { version: 'v', text: 'T' }],
    ])
  })

  test('is made alone without a limit', async () => {
    const { client: fake, sent } = client({ '/v1/keys': made })
    await makeProgramKey(fake, { ...key, usd: ' ', models: [] })
    expect(sent).toEqual([['/v1/keys', { name: 'indexer', days: 90 }]])
  })

  test('is not made when the limit has a fault', async () => {
    const faulty = { ...draft, faults: [{ message: 'found "x"' }] }
    const { client: fake, sent } = client({ '/api/limits/draft': faulty, '/v1/keys': made })
    await expect(makeProgramKey(fake, { ...key, usd: 'x' })).rejects.toThrow('found "x"')
    expect(sent).toHaveLength(1)
  })

  test('ends when its limit is not saved', async () => {
    const conflict = new Error('conflict')
    const { client: fake, sent } = client({
      ...{ '/api/limits/draft': draft, '/v1/keys': made, '/api/limits/file': conflict },
    })
    await expect(makeProgramKey(fake, key)).rejects.toThrow('conflict')
    expect(sent.at(-1)).toBe('/v1/keys/7')
  })
})

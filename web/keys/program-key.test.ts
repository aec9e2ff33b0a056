import { expect, test } from 'bun:test'
import { apiClient } from '../api/client.ts'
import { makeProgramKey } from './program-key.ts'

const key = { name: 'indexer', models: ['bge-m3'], days: 90, usd: '$10', per: 'month' }

/** The requests that a form sends. */
async function sentFor(fields: typeof key): Promise<unknown> {
  const sent: unknown[] = []
  const client = apiClient(async (path, options) => {
    sent.push([path, JSON.parse(String(options?.body))])
    return Response.json({ id: 7 })
  })
  expect(await makeProgramKey(client, fields)).toMatchObject({ id: 7 })
  return sent
}

test('a key of a program is made by one request, with its limit or without', async () => {
  expect(await sentFor(key)).toEqual([
    ['/api/program-keys', { key: { name: 'indexer', days: 90, models: ['bge-m3'] }, limit: { usd: 10, per: 'month' } }],
  ])
  expect(await sentFor({ ...key, usd: ' ', models: [] })).toEqual([
    ['/api/program-keys', { key: { name: 'indexer', days: 90 } }],
  ])
})

import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import { accessFileApi, type AccessFileApiOptions } from './access-file-api.ts'

const answer = { file: '/home/access.json', version: 'v1', text: '{}' }

/** The status with the JSON, or with the code of the error. */
async function call(method: 'GET' | 'POST', path: string, body?: string, more: Partial<AccessFileApiOptions> = {}) {
  const asked: unknown[] = []
  const routes = router(
    accessFileApi({
      read: async () => answer,
      check: async (text) => (asked.push(text), { faults: [] }),
      draft: async (change) => (asked.push(change), { base: answer, text: '{}', faults: [] }),
      change: async (change, user) => (asked.push(change, user), answer),
      isOwner: () => true,
      mayEdit: () => true,
      bodyTimes: { totalMs: 1_000, idleMs: 1_000 },
      ...more,
    }),
  )
  const request = new Request(`http://x${path}`, { method, ...(body === undefined ? {} : { body }) })
  try {
    const response = await routes.find(method, path).handle({ ...contextOf(request), caller: { name: 'ann' } })
    return [response.status, await response.json(), ...asked]
  } catch (error) {
    return error instanceof WireError ? [error.status, error.code, ...asked] : error
  }
}

const file = '/api/limits/file'
const check = '/api/limits/check'
const draft = '/api/limits/draft'

describe('the routes of access.json', () => {
  test('read, check and replace it', async () => {
    expect(await call('GET', file)).toEqual([200, answer])
    expect(await call('POST', check, '{"text":"{"}')).toEqual([200, { faults: [] }, '{'])
    const change = { version: 'v1', text: '{ }\n' }
    expect(await call('POST', file, JSON.stringify(change))).toEqual([200, answer, change, 'ann'])
  })

  test.each([
    ['GET', file],
    ['POST', file],
    ['POST', check],
    ['POST', draft],
  ] as const)('%s %s is for owners, with sign-in or on this machine', async (method, path) => {
    const body = method === 'POST' ? '{"version":"v","text":"{}"}' : undefined
    expect(await call(method, path, body, { isOwner: () => false })).toEqual([403, 'owners_only'])
    expect(await call(method, path, body, { mayEdit: () => false })).toEqual([403, 'not_from_here'])
  })

  test.each([
    ['no JSON', '{', [400, 'invalid_json']],
    ['no object', '[]', [400, 'invalid_json']],
    ['no text', '{"version":"v"}', [400, 'missing_required_parameter']],
    ['another text', '{"version":"v","text":5}', [400, 'invalid_type']],
    ['half a character', '{"version":"v","text":"\\ud83d"}', [400, 'invalid_value']],
    ['no version', '{"text":"{}"}', [400, 'missing_required_parameter']],
    ['a long version', `{"version":"${'v'.repeat(129)}","text":"{}"}`, [400, 'invalid_value']],
    ['more than any file', `{"version":"v","text":"${'x'.repeat(3 * 1024 * 1024)}"}`, [413, 'request_too_large']],
  ])('refuse a body with %s', async (_, body, expected) => {
    expect(await call('POST', file, body)).toEqual(expected)
  })

  test('draft a limit, and pass its members on unchecked', async () => {
    const change = { version: 'v', place: 2, limit: { for: 'everyone', usd: 5, hard: true, models: ['m'] } }
    const drafted = { base: answer, text: '{}', faults: [] }
    expect(await call('POST', draft, JSON.stringify(change))).toEqual([200, drafted, change])
    expect(await call('POST', draft, '{"place":0,"limit":null}')).toEqual([200, drafted, { place: 0, limit: null }])
  })

  test.each([
    ['a place that is none', '{"place":-1}', [400, 'invalid_value']],
    ['a list for a limit', '{"limit":[]}', [400, 'invalid_type']],
    ['an object inside', '{"limit":{"for":{}}}', [400, 'invalid_value']],
    ['a prototype', '{"limit":{"__proto__":1}}', [400, 'invalid_value']],
    ['many members', `{"limit":{${Array.from({ length: 21 }, (_, n) => `"m${n}":1`)}}}`, [400, 'invalid_value']],
    ['many levels', `{"limit":{"for":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`, [400, 'invalid_type']],
    ['more than any limit', `{"version":"${'v'.repeat(64 * 1024)}"}`, [413, 'request_too_large']],
  ])('refuse a draft with %s', async (_, body, expected) => {
    expect(await call('POST', draft, body)).toEqual(expected)
  })
})

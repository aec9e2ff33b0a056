import { describe, expect, test } from 'bun:test'
import { endpointAt } from '../protocols/fixtures/load.ts'
import type { Endpoint } from '../protocols/protocol.ts'
import { originSeal } from './upstream.ts'

const endpoint = { ...endpointAt('https://api.example.com/v1'), apiKey: 'k', headers: { 'X-Team': 'a' } }
const opaque = { maker: 'anthropic', data: 'signature' } as const
const sealed = originSeal(endpoint)('model').seal({ text: 'Hm.', opaque })

function opens(other: Partial<Endpoint>, model = 'model'): boolean {
  return originSeal({ ...endpoint, ...other })(model).open({ text: 'Hm.', opaque: sealed }) !== undefined
}

describe('the seal of an origin', () => {
  test('is the same in every process, and for every id of the provider', () => {
    expect(opens({})).toBe(true)
    expect(opens({ id: 'renamed', headers: { 'x-team': 'a' } })).toBe(true)
    expect(sealed.data).toStartWith('svc1:')
    expect(sealed.data).not.toContain('api.example.com')
  })

  test('is another for another key, address, header or model', () => {
    expect(opens({ apiKey: 'l' })).toBe(false)
    expect(opens({ baseUrl: 'https://api.example.com/v2' })).toBe(false)
    expect(opens({ headers: { 'X-Team': 'b' } })).toBe(false)
    expect(opens({}, 'other')).toBe(false)
  })
})

import { describe, expect, test } from 'bun:test'
import type { ProviderEntry, ProviderState } from '../../src/http/page/page-api.ts'
import { reasonOf } from './order-steps.ts'

const provider = (state: ProviderState, coolingModels: readonly string[] = []): ProviderEntry => ({
  id: 'a',
  protocol: 'openai',
  enabled: true,
  state,
  coolingModels,
  attempts: { count: 0, ok: 0 },
})

describe('a provider of a model', () => {
  test.each<readonly [ProviderState, string | undefined]>([
    [{ kind: 'ok' }, undefined],
    [{ kind: 'failing', failure: 'connect' }, 'unreachable'],
    [{ kind: 'cooling', until: 1, failure: 'rate_limit' }, 'busy'],
    [{ kind: 'cooling', until: 1 }, 'busy'],
    [{ kind: 'off' }, 'off'],
    [{ kind: 'unavailable', lacks: [{ code: 'unset', variables: ['K'], isKey: true }] }, 'key missing'],
    [{ kind: 'unavailable', lacks: [{ code: 'no_base_url', variables: [] }] }, 'not usable'],
  ])('that is %j will not answer for the reason %p', (state, reason) => {
    expect(reasonOf(provider(state), 'm')).toBe(reason)
  })

  test('is busy for a model that cools down, and for no other', () => {
    expect(reasonOf(provider({ kind: 'ok' }, ['m']), 'm')).toBe('busy')
    expect(reasonOf(provider({ kind: 'ok' }, ['m']), 'other')).toBeUndefined()
  })
})

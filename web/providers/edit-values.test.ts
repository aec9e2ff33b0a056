import { describe, expect, test } from 'bun:test'
import type { ProviderSettings } from '../../src/http/page/page-api.ts'
import { editsOf, faultsOfEdit, valuesOf, type EditValues } from './edit-values.ts'
import { noTimeouts } from './timeouts.ts'

const lab: ProviderSettings = {
  version: 'v',
  id: 'lab',
  baseUrl: 'http://lab.test/v1',
  key: { kind: 'variable', variable: 'SVC_KEY_LAB' },
  variables: [],
  models: ['a', 'b'],
  timeouts: { idleMs: 9 },
  defaultTimeouts: { connectMs: 1, firstTokenMs: 2, idleMs: 3, attemptMs: 4 },
}

describe('the form of an existing provider', () => {
  test.each<[Partial<EditValues>, object]>([
    [{}, {}],
    [{ variable: ' $SVC_KEY_LAB ', baseUrl: ' http://lab.test/v1 ', models: ['b', 'a'] }, {}],
    [{ baseUrl: 'http://new.test' }, { baseUrl: 'http://new.test' }],
    [{ variable: '' }, { keyVariable: null }],
    [{ variable: 'SVC_KEY_NEW' }, { keyVariable: 'SVC_KEY_NEW' }],
    [{ models: undefined }, { models: null }],
    [{ models: ['a', 'c'] }, { models: ['a', 'c'] }],
    [{ timeouts: { ...noTimeouts, idleMs: '9' } }, {}],
    [{ timeouts: noTimeouts }, { timeouts: {} }],
    [{ timeouts: { ...noTimeouts, idleMs: '9', connectMs: '7' } }, { timeouts: { idleMs: 9, connectMs: 7 } }],
  ])('sends what was changed alone: %j', (more, edits) => {
    expect<object>(editsOf({ ...valuesOf(lab), ...more }, lab)).toEqual(edits)
  })

  test('keeps what was typed over a change of the file, and no more', () => {
    const changed: ProviderSettings = { ...lab, baseUrl: 'http://moved.test', models: ['z'] }
    const typed = { keyVariable: null, models: ['a'], timeouts: {} }
    expect(valuesOf(changed, typed)).toEqual({
      ...{ baseUrl: 'http://moved.test', variable: '', models: ['a'] },
      timeouts: noTimeouts,
    })
    expect(editsOf(valuesOf(changed, typed), changed)).toEqual(typed)
  })

  test('leaves a key of the file as it is', () => {
    const hidden: ProviderSettings = { ...lab, key: { kind: 'hidden' } }
    expect(editsOf(valuesOf(hidden), hidden)).toEqual({})
  })

  test('finds faults of what was changed, and of nothing else', () => {
    expect(faultsOfEdit(valuesOf({ ...lab, key: { kind: 'variable', variable: 'OTHER' } }), lab)).toMatchObject({
      variable: expect.stringContaining('SVC_KEY_'),
    })
    const own: ProviderSettings = { ...lab, key: { kind: 'variable', variable: 'OTHER' } }
    expect(faultsOfEdit(valuesOf(own), own)).toEqual({})
    const broken = { baseUrl: 'lab', variable: 'X', models: [], timeouts: { ...noTimeouts, idleMs: 'x' } }
    expect(Object.keys(faultsOfEdit(broken, lab))).toEqual(['baseUrl', 'variable', 'models', 'timeouts'])
  })
})

import { describe, expect, test } from 'bun:test'
import { proposedVariable } from '../../src/base/free-variable.ts'
import type { BrandEntry, ProviderSettings } from '../../src/http/page/page-api.ts'
import {
  draftOf,
  editsOf,
  faultsOf,
  faultsOfEdit,
  freeId,
  keyState,
  nameOfServer,
  ownServer,
  valuesOf,
  type EditValues,
  type FormValues,
} from './form-draft.ts'
import { noTimeouts } from './timeouts.ts'

const brands: readonly BrandEntry[] = [
  {
    id: 'gemini',
    name: 'Gemini',
    baseUrl: 'https://g.test',
    protocol: 'gemini',
    keys: [
      { variable: 'GEMINI_API_KEY', isSet: false },
      { variable: 'GOOGLE_API_KEY', isSet: true },
    ],
  },
  { id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', protocol: 'openai', keys: [] },
]

function values(more: Partial<FormValues> = {}): FormValues {
  return {
    kind: 'gemini',
    id: 'gemini',
    key: '',
    baseUrl: '',
    protocol: 'openai',
    variable: '',
    models: undefined,
    timeouts: noTimeouts,
    ...more,
  }
}

const server = { kind: ownServer, id: 'lab', baseUrl: 'http://10.0.0.7:8000/v1' } as const

describe('a typed provider', () => {
  test.each<[Partial<FormValues>, object]>([
    [{}, { id: 'gemini', brand: 'gemini' }],
    [
      { id: 'g2', variable: '$GOOGLE_API_KEY ' },
      { id: 'g2', brand: 'gemini', keyVariable: 'GOOGLE_API_KEY' },
    ],
    [{ timeouts: { ...noTimeouts, idleMs: '9' } }, { id: 'gemini', brand: 'gemini', timeouts: { idleMs: 9 } }],
    [server, { id: 'lab', baseUrl: 'http://10.0.0.7:8000/v1', protocol: 'openai' }],
    [
      { ...server, protocol: 'anthropic', variable: 'SVC_KEY_LAB', models: ['m'] },
      {
        ...{ id: 'lab', baseUrl: 'http://10.0.0.7:8000/v1', protocol: 'anthropic' },
        ...{ keyVariable: 'SVC_KEY_LAB', models: ['m'] },
      },
    ],
  ])('%j is without faults', (more, draft) => {
    expect(faultsOf(values(more), brands, new Set())).toEqual({})
    expect<object>(draftOf(values(more))).toEqual(draft)
  })

  test.each<[Partial<FormValues>, string]>([
    [{ kind: '' }, 'kind'],
    [{ id: '' }, 'id'],
    [{ id: 'A b' }, 'id'],
    [{ id: 'taken' }, 'id'],
    [{ ...server, id: 'gemini' }, 'id'],
    [{ ...server, baseUrl: 'localhost:8000' }, 'baseUrl'],
    [{ ...server, baseUrl: 'ftp://x' }, 'baseUrl'],
    [{ ...server, baseUrl: 'http://user:word@x' }, 'baseUrl'],
    [{ ...server, variable: 'GOOGLE_API_KEY' }, 'variable'],
    [{ variable: 'sk-a-key' }, 'variable'],
    [{ variable: 'HOME' }, 'variable'],
    [{ models: [] }, 'models'],
  ])('%j has a fault in %s', (more, field) => {
    expect(Object.keys(faultsOf(values(more), brands, new Set(['taken'])))).toEqual([field])
  })

  test('gets a free id, and the name of a variable', () => {
    expect(freeId('groq', new Set(['groq', 'groq-2']))).toBe('groq-3')
    expect(freeId('groq', new Set())).toBe('groq')
    expect([proposedVariable('my-lab'), proposedVariable('')]).toEqual(['SVC_KEY_MY_LAB', 'SVC_KEY_NAME'])
  })

  test('names the variable of its key', () => {
    expect(keyState(values(), brands)).toEqual({ variable: 'GOOGLE_API_KEY', isSet: true })
    expect(keyState(values({ variable: 'SVC_KEY_A' }), brands)).toEqual({ variable: 'SVC_KEY_A', isSet: undefined })
    expect(keyState(values({ kind: 'ollama' }), brands)).toBeUndefined()
    expect(keyState(values(server), brands)).toBeUndefined()
  })
})

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
      ...{ baseUrl: 'http://moved.test', key: '', variable: '', models: ['a'] },
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
    const broken = { baseUrl: 'lab', key: '$A', variable: 'X', models: [], timeouts: { ...noTimeouts, idleMs: 'x' } }
    expect(Object.keys(faultsOfEdit(broken, lab))).toEqual(['baseUrl', 'key', 'variable', 'models', 'timeouts'])
  })
})

test.each([
  ['https://api.example.com/v1', 'example'],
  ['http://gpubox:8000/v1', 'gpubox'],
  ['http://10.0.0.7:8000', 'server'],
  ['http://localhost:8000', 'server'],
  ['http://[::1]:8000', 'server'],
  ['', 'server'],
])('a server at %j is proposed the name %s', (address, name) => {
  expect(nameOfServer(address)).toBe(name)
})

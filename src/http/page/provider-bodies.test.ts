import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { WireError } from '../../formats/error.ts'
import { parseProviderChange, parseProviderLook, parseProviderTest } from './provider-bodies.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Status, code and parameter of a WireError, or the result. */
function outcome(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof WireError) return [error.status, error.code, error.param]
    throw error
  }
}

describe('the body of a change', () => {
  test.each(['enable', 'disable', 'up', 'down'] as const)('is read: %s', (change) => {
    expect(parseProviderChange(bytesOf(JSON.stringify({ version: 'v', id: 'groq', change })))).toEqual({
      version: 'v',
      id: 'groq',
      change,
    })
  })

  test.each([
    ['', [400, 'invalid_json', null]],
    ['{', [400, 'invalid_json', null]],
    ['null', [400, 'invalid_json', null]],
    ['[]', [400, 'invalid_json', null]],
    ['"up"', [400, 'invalid_json', null]],
    ['{}', [400, 'missing_required_parameter', 'version']],
    ['{"version":null,"id":"a","change":"up"}', [400, 'missing_required_parameter', 'version']],
    ['{"version":"v","change":"up"}', [400, 'missing_required_parameter', 'id']],
    ['{"version":"v","id":"a"}', [400, 'missing_required_parameter', 'change']],
    ['{"version":1,"id":"a","change":"up"}', [400, 'invalid_type', 'version']],
    ['{"version":"v","id":["a"],"change":"up"}', [400, 'invalid_type', 'id']],
    ['{"version":"v","id":"","change":"up"}', [400, 'invalid_value', 'id']],
    ['{"version":"v","id":"a\\u0000","change":"up"}', [400, 'invalid_value', 'id']],
    ['{"version":"v","id":"\\ud800","change":"up"}', [400, 'invalid_value', 'id']],
    [JSON.stringify({ version: 'v', id: 'a'.repeat(65), change: 'up' }), [400, 'invalid_value', 'id']],
    [JSON.stringify({ version: 'v'.repeat(129), id: 'a', change: 'up' }), [400, 'invalid_value', 'version']],
    ['{"version":"v","id":"a","change":"Up"}', [400, 'invalid_value', 'change']],
    ['{"version":"v","id":"a","change":"toString"}', [400, 'invalid_value', 'change']],
    ['{"__proto__":{"version":"v","id":"a","change":"up"}}', [400, 'invalid_value', '__proto__']],
  ])('is refused: %s', (text, expected) => {
    expect(outcome(() => parseProviderChange(bytesOf(text)))).toEqual(expected)
  })

  test('is read: a move, an entry', () => {
    const move = { version: 'v', id: 'groq', change: 'move' as const, to: 0 }
    expect(parseProviderChange(bytesOf(JSON.stringify(move)))).toEqual(move)
    const entry = { brand: 'groq', keyVariable: 'GROQ_API_KEY', models: ['a', 'b'], timeouts: { idleMs: 9 } }
    const add = { version: 'v', id: 'groq', change: 'add' as const, entry }
    expect(parseProviderChange(bytesOf(JSON.stringify({ ...add, entry: { ...entry, apiKey: 'x' } })))).toEqual(add)
  })

  test.each([
    [{ change: 'move' }, 'missing_required_parameter', 'to'],
    [{ change: 'move', to: -1 }, 'invalid_value', 'to'],
    [{ change: 'move', to: 1.5 }, 'invalid_value', 'to'],
    [{ change: 'move', to: '1' }, 'invalid_type', 'to'],
    [{ change: 'move', to: 1e9 }, 'invalid_value', 'to'],
    [{ change: 'add' }, 'missing_required_parameter', 'entry'],
    [{ change: 'add', entry: [] }, 'invalid_type', 'entry'],
    [{ change: 'add', entry: { brand: 5 } }, 'invalid_type', 'entry.brand'],
    [{ change: 'add', entry: { baseUrl: `http://${'x'.repeat(2_048)}` } }, 'invalid_value', 'entry.baseUrl'],
    [{ change: 'add', entry: { protocol: 'echo' } }, 'invalid_value', 'entry.protocol'],
    [{ change: 'add', entry: { models: [] } }, 'invalid_value', 'entry.models'],
    [{ change: 'add', entry: { timeouts: 9 } }, 'invalid_type', 'entry.timeouts'],
    [{ change: 'edit', edit: { price: 0 } }, 'invalid_type', 'edit.price'],
    [{ change: 'edit', edit: { price: { input: 1 } } }, 'missing_required_parameter', 'edit.price.output'],
    [{ change: 'edit', edit: { price: { input: -1, output: 1 } } }, 'invalid_value', 'edit.price.input'],
    [{ change: 'edit', edit: { timeouts: { idleMs: 0 } } }, 'invalid_value', 'edit.timeouts.idleMs'],
    [{ change: 'edit', edit: { timeouts: { connectMs: '5' } } }, 'invalid_type', 'edit.timeouts.connectMs'],
    [{ change: 'add', entry: { models: 'm' } }, 'invalid_type', 'entry.models'],
    [{ change: 'add', entry: { models: ['m', null] } }, 'invalid_type', 'entry.models[1]'],
    [{ change: 'add', entry: { models: ['m\n'] } }, 'invalid_value', 'entry.models[0]'],
    [{ change: 'add', entry: { models: Array.from({ length: 501 }, () => 'm') } }, 'invalid_value', 'entry.models'],
  ])('is refused: %j', (more, code, param) => {
    const body = bytesOf(JSON.stringify({ version: 'v', id: 'a', ...more }))
    expect(outcome(() => parseProviderChange(body))).toEqual([400, code, param])
    if (more.change === 'add') expect(outcome(() => parseProviderLook(body))).toEqual([400, code, param])
  })

  test('is refused when it is not UTF-8', () => {
    const bytes = bytesOf('{"version":"v","id":"?","change":"up"}').map((byte) => (byte === 0x3f ? 0xff : byte))
    expect(outcome(() => parseProviderChange(bytes))).toEqual([400, 'invalid_json', null])
  })
})

describe('the body of a test', () => {
  test('is read, with and without a model', () => {
    expect(parseProviderTest(bytesOf('{"id":"a","other":1}'))).toEqual({ id: 'a' })
    expect(parseProviderTest(bytesOf('{"id":"a","model":null}'))).toEqual({ id: 'a' })
    expect(parseProviderTest(bytesOf('{"id":"a","model":"meta/llama é"}'))).toEqual({ id: 'a', model: 'meta/llama é' })
  })

  test.each([
    ['{}', [400, 'missing_required_parameter', 'id']],
    ['{"id":"a","model":5}', [400, 'invalid_type', 'model']],
    ['{"id":"a","model":""}', [400, 'invalid_value', 'model']],
    [JSON.stringify({ id: 'a', model: 'm'.repeat(257) }), [400, 'invalid_value', 'model']],
  ])('is refused: %s', (text, expected) => {
    expect(outcome(() => parseProviderTest(bytesOf(text)))).toEqual(expected)
  })
})

test.each([
  ['a change', parseProviderChange],
  ['a test', parseProviderTest],
] as const)(
  'the body of %s › any input is read as allowed texts, or refused with 400',
  (_, parse) => {
    const field = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('up', 'enable', null, 5, true),
      fc.jsonValue({ maxDepth: 1 }),
    )
    const object = fc
      .dictionary(fc.oneof(fc.constantFrom('version', 'id', 'change', 'model', '__proto__'), fc.string()), field, {
        maxKeys: 6,
      })
      .map((value) => bytesOf(JSON.stringify(value)))
    const body = fc.oneof(object, fc.json().map(bytesOf), fc.string().map(bytesOf), fc.uint8Array())
    fc.assert(
      fc.property(body, (bytes) => {
        const read = outcome(() => parse(bytes))
        if (Array.isArray(read)) return read[0] === 400
        return Object.values(read ?? {}).every(
          (text) => typeof text === 'string' && text.length >= 1 && text.length <= 256 && text.isWellFormed(),
        )
      }),
      { numRuns: 500 },
    )
  },
  20_000,
)

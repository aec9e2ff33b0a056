import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkUtf8, depthMax, JsonCursor, JsonSyntaxError, nameTable } from './json-cursor.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function fault(bytes: Uint8Array, limit?: number): string | undefined {
  const cursor = new JsonCursor(bytes)
  try {
    if (limit === undefined) cursor.skip()
    else for (let stop = limit; !cursor.skip(stop);) stop = cursor.position + limit
    cursor.finish()
    return undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message
    throw error
  }
}

/** Passes a value by entering every object and array; the other way is `skip`. */
function walk(cursor: JsonCursor): void {
  const kind = cursor.peek()
  if (kind === 'object') for (let more = cursor.firstMember(); more; more = cursor.nextMember()) walk(cursor)
  else if (kind === 'array') for (let more = cursor.firstElement(); more; more = cursor.nextElement()) walk(cursor)
  else if (kind === 'number') cursor.number()
  else if (kind === 'string') cursor.string()
  else cursor.skip()
}

function walkFault(bytes: Uint8Array): string | undefined {
  const cursor = new JsonCursor(bytes)
  try {
    walk(cursor)
    cursor.finish()
    return undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message
    throw error
  }
}

/** Whether the platform accepts the bytes as JSON. */
function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

describe('the JSON cursor', () => {
  test.each([
    ['', 'unexpected end at byte 0'],
    ['  ', 'unexpected end at byte 2'],
    ['{', 'unexpected end at byte 1'],
    ['{"a"', 'unexpected end at byte 4'],
    ['{"a":', 'unexpected end at byte 5'],
    ['{"a":1', 'unexpected end at byte 6'],
    ['{"a":1,}', 'unexpected character at byte 7'],
    ['{,}', 'unexpected character at byte 1'],
    ['{a:1}', 'unexpected character at byte 1'],
    ['{"a" 1}', 'unexpected character at byte 5'],
    ['[1,]', 'unexpected character at byte 3'],
    ['[1 2]', 'unexpected character at byte 3'],
    ['[1}', 'unexpected character at byte 2'],
    ['{"a":1]', 'unexpected character at byte 6'],
    ['1 2', 'unexpected character at byte 2'],
    ['01', 'unexpected character at byte 1'],
    ['-', 'unexpected end at byte 1'],
    ['+1', 'unexpected character at byte 0'],
    ['.5', 'unexpected character at byte 0'],
    ['1.', 'unexpected end at byte 2'],
    ['1.e5', 'unexpected character at byte 2'],
    ['1e', 'unexpected end at byte 2'],
    ['1e+', 'unexpected end at byte 3'],
    ['NaN', 'unexpected character at byte 0'],
    ['tru', 'unexpected end at byte 3'],
    ['trux', 'unexpected character at byte 3'],
    ['fals', 'unexpected end at byte 4'],
    ['nul!', 'unexpected character at byte 3'],
    ['"a', 'unterminated string at byte 2'],
    ['"a\\', 'unterminated string at byte 2'],
    ['"\\x"', 'invalid escape in a string at byte 1'],
    ['"\\u12g4"', 'invalid escape in a string at byte 1'],
    ['"\\U0000"', 'invalid escape in a string at byte 1'],
    ['"a\nb"', 'unescaped control character in a string at byte 2'],
    ['"a\u0000b"', 'unescaped control character in a string at byte 2'],
    [`"${'a'.repeat(80)}`, 'unterminated string at byte 81'],
    [`"${'a'.repeat(4096)}`, 'unterminated string at byte 4097'],
    ['\ufeff{}', 'unexpected character at byte 0'],
    ["{'a':1}", 'unexpected character at byte 1'],
    ['[1]/**/', 'unexpected character at byte 3'],
    ['\u00a01', 'unexpected character at byte 0'],
    ['\f1', 'unexpected character at byte 0'],
  ])('refuses %j: %s', (text, message) => {
    expect(fault(encode(text))).toBe(message)
    expect(walkFault(encode(text))).toBe(message)
    expect(isJson(encode(text))).toBeFalse()
  })

  test.each([
    '0',
    '-0',
    '-0.5e-10',
    '1E400',
    '""',
    '"\\u00e9\\ud800"',
    '[]',
    '{}',
    ' [ ] ',
    '\t{ "a" : [ 1 , null ] }\r\n',
    'true',
    '"/\\/"',
    '"\u007f"',
  ])('accepts %j', (text) => {
    expect(fault(encode(text))).toBeUndefined()
    expect(walkFault(encode(text))).toBeUndefined()
  })

  test('agrees with JSON.parse on arbitrary JSON, walked and skipped', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const bytes = encode(text)
        expect(fault(bytes)).toBeUndefined()
        expect(fault(bytes, limit)).toBeUndefined()
        expect(walkFault(bytes)).toBeUndefined()
      }),
      { numRuns: 100 },
    )
  })

  test('agrees with JSON.parse on JSON with a changed byte, with one error position for all ways to walk', () => {
    const change = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.oneof(fc.constantFrom(...encode('"\\{}[],:0-.eE\n\u0000 tu')), fc.integer({ min: 0, max: 255 })),
    )
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'binary' }),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 40 }),
        (text, changes, limit) => {
          const bytes = [...encode(text)]
          for (const [place, removed, byte] of changes) bytes.splice(place % (bytes.length + 1), removed, byte)
          const changed = new Uint8Array(bytes)
          const found = fault(changed)
          expect(found === undefined).toBe(isJson(changed))
          expect(fault(changed, limit)).toBe(found)
          expect(walkFault(changed)).toBe(found)
        },
      ),
      { numRuns: 1200 },
    )
  })

  test('agrees with JSON.parse on long strings with one byte changed, wherever the bytes lie in memory', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 500, max: 3000 }),
        fc.nat(3),
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 1, max: 900 }),
        (length, offset, place, byte, limit) => {
          const room = new Uint8Array(length + offset + 2).fill(0x61)
          const bytes = room.subarray(offset)
          bytes[0] = 0x22
          bytes[bytes.length - 1] = 0x22
          bytes[1 + (place % (bytes.length - 2))] = byte
          expect(fault(bytes) === undefined).toBe(isJson(bytes))
          expect(fault(bytes, limit)).toBe(fault(bytes))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('decodes names and strings as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (text) => {
        const cursor = new JsonCursor(encode(JSON.stringify({ [text]: text })))
        cursor.peek()
        expect(cursor.firstMember()).toBeTrue()
        expect(cursor.name()).toBe(text)
        cursor.peek()
        expect(cursor.string()).toBe(text)
        expect(cursor.nextMember()).toBeFalse()
        cursor.finish()
      }),
      { numRuns: 300 },
    )
  })

  test('tells names apart, with escapes or without', () => {
    const table = nameTable(['model', 'messages', 'stop'])
    const cursor = new JsonCursor(encode('{"stop":1,"mod\\u0065l":1,"modem":1,"":1,"messages":1,"\\u006dode":1}'))
    cursor.peek()
    const codes: number[] = []
    for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
      codes.push(cursor.nameCode(table))
      cursor.skip()
    }
    expect(codes).toEqual([2, 0, -1, -1, 1, -1])
  })

  test.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('accepts %s %s nested 512 deep and refuses 513', (open, close) => {
    const nested = (depth: number) => encode(open.repeat(depth) + '0' + close.repeat(depth))
    expect(fault(nested(depthMax))).toBeUndefined()
    expect(walkFault(nested(depthMax))).toBeUndefined()
    expect(fault(nested(depthMax + 1))).toStartWith('nested too deeply')
    expect(walkFault(nested(depthMax + 1))).toStartWith('nested too deeply')
  })

  test('counts levels, not arrays and objects', () => {
    expect(walkFault(encode(`[${'[],{},[{}],{"a":[]},'.repeat(600)}0]`))).toBeUndefined()
    expect(fault(encode(`[${'[],{},[{}],{"a":[]},'.repeat(600)}0]`))).toBeUndefined()
  })

  test('refuses a million levels at the 513th', () => {
    expect(fault(encode('['.repeat(1_000_000)))).toBe('nested too deeply at byte 512')
  })

  test('reports the position of the first byte that is not UTF-8', () => {
    const bytes = new Uint8Array([...encode('"äöü'), 0xc3, 0x28, ...encode('"')])
    expect(fault(bytes)).toBe('invalid UTF-8 at byte 7')
  })

  test('checks UTF-8 in slices that do not cut characters', () => {
    const bytes = encode('€'.repeat(3 * 1024 * 1024))
    expect([...checkUtf8(bytes, 'pause')]).toEqual(['pause', 'pause'])
    bytes[8_000_000] = 0xff
    expect(() => [...checkUtf8(bytes, 'pause')]).toThrow('invalid UTF-8 at byte 7999998')
  })

  test('reports raw line breaks between tokens only', () => {
    const broken = new JsonCursor(encode('{"a":\n1}'))
    broken.skip()
    expect(broken.hasLineBreaks).toBeTrue()
    const plain = new JsonCursor(encode('{"a":"\\n"}'))
    plain.skip()
    expect(plain.hasLineBreaks).toBeFalse()
  })
})

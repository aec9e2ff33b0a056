import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseChatRequest } from '../../src/formats/chat/request.ts'
import { countSet, parameters, parseParameters, withParameter, type NumberParameter } from './parameters.ts'
import { describeRange, readNumber } from './read-number.ts'
import { readStop, showStop } from './stop-text.ts'

const numbers = Object.values(parameters).filter(
  (parameter): parameter is Extract<typeof parameter, { kind: 'number' }> => parameter.kind === 'number',
)

/** Whether the service accepts a request with these members. */
function isTaken(members: object): boolean {
  try {
    parseChatRequest(
      new TextEncoder().encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], ...members })),
    )
    return true
  } catch {
    return false
  }
}

describe('readNumber', () => {
  const cases: readonly (readonly [NumberParameter['name'], string, number | 'unset' | RegExp])[] = [
    ['temperature', '0.7', 0.7],
    ['temperature', '0,7', 0.7],
    ['temperature', ' 2 ', 2],
    ['temperature', '0', 0],
    ['temperature', '.5', 0.5],
    ['temperature', '', 'unset'],
    ['temperature', '  ', 'unset'],
    ['temperature', '2.01', /0 to 2/],
    ['temperature', '-0.1', /0 to 2/],
    ['temperature', 'warm', /a number, 0 to 2/],
    ['temperature', '0x1', /0 to 2/],
    ['top_p', '1.1', /0 to 1/],
    ['presence_penalty', '-2', -2],
    ['frequency_penalty', '-2.1', /-2 to 2/],
    ['top_logprobs', '20', 20],
    ['top_logprobs', '21', /whole number, 0 to 20/],
    ['top_logprobs', '1.5', /whole number, 0 to 20/],
    ['seed', '-7', -7],
    ['seed', '1.5', /a whole number/],
    ['seed', '9007199254740993', /9007199254740991/],
    ['max_tokens', '1e3', 1000],
    ['max_tokens', '1e999', /whole number/],
    ['max_tokens', 'NaN', /whole number/],
    ['max_tokens', 'Infinity', /whole number/],
  ]
  test.each(cases)('%s: %p', (name, text, expected) => {
    const read = readNumber(parameters[name], text)
    if (expected instanceof RegExp) expect(read).toEqual({ kind: 'fault', fault: expect.stringMatching(expected) })
    else expect(read).toEqual(expected === 'unset' ? { kind: 'unset' } : { kind: 'value', value: expected })
  })

  test('returns only numbers that the service accepts, for any text', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...numbers),
        fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String)),
        (parameter, text) => {
          const read = readNumber(parameter, text)
          if (read.kind === 'value') expect(isTaken({ [parameter.name]: read.value })).toBe(true)
        },
      ),
    )
  })

  test('refuses nothing that the service accepts, except unsafe integers', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...numbers),
        fc.oneof(fc.double({ min: -3, max: 22, noNaN: true }), fc.maxSafeInteger()),
        (parameter, value) => {
          expect(readNumber(parameter, String(value)).kind === 'value').toBe(isTaken({ [parameter.name]: value }))
        },
      ),
    )
  })
})

describe('describeRange', () => {
  test('describes the range', () => {
    expect([parameters.temperature, parameters.top_logprobs, parameters.seed].map(describeRange)).toEqual([
      '0 to 2',
      'a whole number, 0 to 20',
      'a whole number',
    ])
  })
})

describe('parseParameters', () => {
  const all = {
    temperature: 0.5,
    top_p: 1,
    frequency_penalty: -2,
    presence_penalty: 2,
    max_tokens: 100,
    max_completion_tokens: 200,
    stop: ['a', '\n'],
    seed: 7,
    logprobs: true,
    top_logprobs: 20,
    reasoning_effort: 'xhigh',
    enable_thinking: false,
    stream: false,
  }

  test('keeps every valid parameter', () => {
    expect(parseParameters(all)).toEqual(all)
    expect(Object.keys(all).toSorted()).toEqual(Object.keys(parameters).toSorted())
  })

  test.each(Object.keys(all))('leaves %s out if the service would refuse it', (name) => {
    expect(parseParameters({ ...all, [name]: { no: 1 } })).toEqual(
      Object.fromEntries(Object.entries(all).filter(([each]) => each !== name)),
    )
  })

  test.each([
    [null],
    [undefined],
    ['text'],
    [[1]],
    [{ model: 'x', unknown: 1, constructor: 2 }],
    [{ temperature: 3, top_p: '1', seed: 1.5, stop: [], reasoning_effort: 'huge', max_tokens: null }],
  ])('ignores %j', (value) => {
    expect(parseParameters(value)).toEqual({})
  })

  test('reads one stop sequence as a list, and leaves out invalid ones', () => {
    expect(parseParameters({ stop: 'a' })).toEqual({ stop: ['a'] })
    expect(parseParameters({ stop: ['a', '', 1, 'a', 'b'] })).toEqual({ stop: ['a', 'b'] })
  })

  test('returns only parameters that the service accepts, and the same when parsed again', () => {
    const members = fc.record(
      Object.fromEntries(
        Object.keys(all).map((name) => [
          name,
          fc.oneof(fc.jsonValue(), fc.double(), fc.integer(), fc.boolean(), fc.constantFrom('low', 'max')),
        ]),
      ),
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(members, fc.anything()), (value) => {
        const parsed = parseParameters(value)
        expect(isTaken(parsed)).toBe(true)
        expect(parseParameters(JSON.parse(JSON.stringify(parsed)))).toEqual(JSON.parse(JSON.stringify(parsed)))
      }),
    )
  })
})

describe('withParameter', () => {
  test('sets and removes a parameter', () => {
    const set = withParameter({ seed: 1 }, 'temperature', 0)
    expect(set).toEqual({ seed: 1, temperature: 0 })
    expect(countSet(set)).toBe(2)
    expect(withParameter(set, 'temperature', undefined)).toEqual({ seed: 1 })
    expect(Object.keys(withParameter(set, 'temperature', undefined))).toEqual(['seed'])
  })
})

describe('stop sequences', () => {
  test.each([
    ['\\n', '\n'],
    ['a\\tb', 'a\tb'],
    ['\\\\n', '\\n'],
    ['\\x', '\\x'],
    ['\\', '\\'],
    ['END', 'END'],
  ])('%s is read', (typed, text) => {
    expect(readStop(typed)).toBe(text)
  })

  test('round-trip through display and input', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\\', 'n', '\n', '\t', '\r', 't') }), (text) => {
        expect(readStop(showStop(text))).toBe(text)
        expect(showStop(text)).not.toMatch(/[\n\r\t]/)
      }),
    )
  })
})

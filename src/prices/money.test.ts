import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { amountOf, reportedAmount, usdOf, usdText } from './money.ts'
import type { Rates } from './rates.ts'
import type { Units } from './units.ts'

const unitNames = [
  'input',
  'cached',
  'write5',
  'write60',
  'output',
  'reasoning',
  'audioIn',
  'audioOut',
  'imageIn',
  'imageOut',
  'request',
  'search',
  'searchRequest',
] as const satisfies readonly (keyof Units)[]

const nothing: Units = {
  input: 0,
  cached: 0,
  write5: 0,
  write60: 0,
  output: 0,
  reasoning: 0,
  audioIn: 0,
  audioOut: 0,
  imageIn: 0,
  imageOut: 0,
  request: 0,
  search: 0,
  searchRequest: 0,
}

/** The same in integers of any size. */
function exactAmount(units: Units, rates: Rates): bigint {
  let pico = 0n
  for (const name of unitNames) pico += BigInt(units[name]) * BigInt(rates[name])
  const nano = (pico + 999n) / 1_000n
  const max = BigInt(Number.MAX_SAFE_INTEGER)
  return nano > max ? max : nano
}

const anyUnits = recordOf(fc.oneof(fc.nat(1_000), fc.nat(1_000_000_000)))
const anyRates = recordOf(
  fc.oneof(
    fc.nat(2_000),
    fc.nat(20_000_000),
    fc.maxSafeNat().map((rate) => rate % 1e15),
  ),
)

function recordOf(value: fc.Arbitrary<number>): fc.Arbitrary<Readonly<Record<keyof Units, number>>> {
  return fc.record({
    input: value,
    cached: value,
    write5: value,
    write60: value,
    output: value,
    reasoning: value,
    audioIn: value,
    audioOut: value,
    imageIn: value,
    imageOut: value,
    request: value,
    search: value,
    searchRequest: value,
  })
}

describe('an amount', () => {
  test('is exact for any counts and rates, and rounded up once', () => {
    fc.assert(
      fc.property(anyUnits, anyRates, (units, rates) => {
        expect(BigInt(amountOf(units, rates))).toBe(exactAmount(units, rates))
      }),
      { numRuns: 2_000 },
    )
  })

  test('of a million tokens at the dearest price of a chat model is exact, though its pico-USD are above 2⁵³', () => {
    const units = { ...nothing, input: 1_000_000, output: 1 }
    const rates = { ...nothing, input: 9_710_000_001, output: 1 }
    expect(units.input * rates.input).toBeGreaterThan(Number.MAX_SAFE_INTEGER)
    expect(amountOf(units, rates)).toBe(9_710_000_001_001)
  })

  test('grows with every unit, and with every rate', () => {
    for (const name of unitNames) {
      const rates = { ...nothing, [name]: 1_000 }
      expect(amountOf({ ...nothing, [name]: 7 }, rates)).toBe(7)
      expect(amountOf({ ...nothing, [name]: 8 }, rates)).toBe(8)
      expect(amountOf({ ...nothing, [name]: 8 }, { ...rates, [name]: 2_000 })).toBe(16)
    }
    fc.assert(
      fc.property(anyUnits, anyRates, fc.constantFrom(...unitNames), (units, rates, name) => {
        const more = { ...units, [name]: units[name] + 1_000 }
        expect(amountOf(more, rates)).toBeGreaterThanOrEqual(amountOf(units, rates))
      }),
    )
  })

  test('is a whole nano-USD for a thousandth of one', () => {
    expect(amountOf({ ...nothing, input: 1 }, { ...nothing, input: 1 })).toBe(1)
    expect(amountOf(nothing, { ...nothing, input: 1 })).toBe(0)
  })
})

describe('a reported amount', () => {
  test.each([
    [0.000_14, 140_000],
    [0.95, 950_000_000],
    [0.1 + 0.2, 300_000_000],
    [1e-12, 1],
    [0, 0],
    [1e300, Number.MAX_SAFE_INTEGER],
  ])('of %p USD is %p nano-USD', (usd, nano) => {
    expect(reportedAmount(usd)).toBe(nano)
  })

  test.each([[undefined], [-1], [Number.NaN], [Infinity]])('of %p is none', (usd) => {
    expect(reportedAmount(usd)).toBeUndefined()
  })
})

test('USD are the nearest number to the nano-USD', () => {
  expect([usdOf(5_300_000), usdOf(1), usdOf(0)]).toEqual([0.0053, 1e-9, 0])
})

test('an amount as text has all its digits, and no exponent', () => {
  const shown = [0, 1, 60_000, 1_000_000_000, 12_340_000_000, Number.MAX_SAFE_INTEGER].map(usdText)
  expect(shown).toEqual(['0', '0.000000001', '0.00006', '1', '12.34', '9007199.254740991'])
  fc.assert(fc.property(fc.nat(), (nanoUsd) => reportedAmount(Number(usdText(nanoUsd))) === nanoUsd))
})

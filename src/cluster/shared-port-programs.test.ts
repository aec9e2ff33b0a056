import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { allBut, encodeProgram, noNewConnection, type Step } from './shared-port-programs.ts'

/** Executes a program as the kernel does (RFC 9669 describes the successors of these instructions). */
function run(
  program: readonly Step[],
  { random = 0, flags = 0 }: { readonly random?: number; readonly flags?: number },
): number {
  let loaded = 0
  for (let at = 0; at < program.length; at++) {
    const { code, operand = 0, ifTrue = 0, ifFalse = 0 } = program[at] ?? { code: 0x06 }
    switch (code) {
      case 0x20:
        loaded = random
        break
      case 0x30:
        loaded = operand === 13 ? flags : 0
        break
      case 0x00:
        loaded = operand
        break
      case 0x94:
        loaded %= operand
        break
      case 0x54:
        loaded &= operand
        break
      case 0x15:
        at += loaded === operand ? ifTrue : ifFalse
        break
      case 0x16:
        return loaded
      case 0x06:
        return operand
      default:
        throw new Error(`an unknown step: ${code}`)
    }
  }
  throw new Error('the program does not end')
}

test.each([
  [0, 2],
  [1, 2],
  [0, 3],
  [1, 3],
  [2, 3],
  [3, 8],
  [7, 8],
])('all but index %d of %d are chosen, equally often', (index, count) => {
  const times = new Array<number>(count).fill(0)
  for (let random = 0; random < (count - 1) * 10; random++) {
    const chosen = run(allBut({ index, count }), { random })
    times[chosen] = (times[chosen] ?? Number.NaN) + 1
  }
  expect(times).toEqual(times.map((_, at) => (at === index ? 0 : 10)))
})

test('for every random number, the excepted socket is not chosen, nor one that does not exist', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 300 }), fc.nat(299), fc.nat(0xffff_ffff), (count, anywhere, random) => {
      const index = anywhere % count
      const chosen = run(allBut({ index, count }), { random })
      expect(chosen).not.toBe(index)
      expect(chosen).toBeLessThan(count)
    }),
  )
})

test.each([
  ['SYN', 0x02, false],
  ['SYN of a sender that knows congestion marks', 0xc2, false],
  ['SYN and ACK', 0x12, true],
  ['ACK', 0x10, true],
  ['ACK with data', 0x18, true],
  ['FIN', 0x11, true],
  ['RST', 0x04, true],
])('only packets that open a connection are dropped: %s', (_, flags, passes) => {
  expect(run(noNewConnection, { flags }) > 0).toBe(passes)
})

test('a program is written as the kernel reads it', () => {
  expect([
    ...encodeProgram([
      { code: 0x15, ifTrue: 1, ifFalse: 2, operand: 0x0403_0201 },
      { code: 0x06, operand: 0xffff_ffff },
    ]),
  ]).toEqual([0x15, 0, 1, 2, 1, 2, 3, 4, 0x06, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])
})

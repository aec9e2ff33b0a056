import { expect, test } from 'bun:test'
import { parseCoreList, parseProcessorTicks, stealPercent } from './machine.ts'

test.each([
  { list: '0', cores: [0] },
  { list: '0-1', cores: [0, 1] },
  { list: '0,2-4,9', cores: [0, 2, 3, 4, 9] },
])('parseCoreList reads $list', ({ list, cores }) => {
  expect(parseCoreList(list)).toEqual(cores)
})

test('parseProcessorTicks sums the times of all processors', () => {
  const text = 'cpu  100 10 50 1000 5 0 15 20 7 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n'
  expect(parseProcessorTicks(text)).toEqual({ total: 1200, stolen: 20 })
})

test('stealPercent is the share that the host took', () => {
  expect(stealPercent({ total: 1000, stolen: 10 }, { total: 1500, stolen: 60 })).toBe(10)
})

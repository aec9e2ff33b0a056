import { expect, test } from 'bun:test'
import { parseCoreList } from './machine.ts'

test.each([
  { list: '0', cores: [0] },
  { list: '0-1', cores: [0, 1] },
  { list: '0,2-4,9', cores: [0, 2, 3, 4, 9] },
])('parseCoreList reads $list', ({ list, cores }) => {
  expect(parseCoreList(list)).toEqual(cores)
})

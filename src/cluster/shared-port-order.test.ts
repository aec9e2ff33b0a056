import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { groupOrder } from './shared-port-order.ts'

test('who joins stands at the end', () => {
  const order = groupOrder<string>()
  order.joined('a')
  order.joined('b')
  expect(order.placeOf('a')).toEqual({ place: 0, of: 2 })
  expect(order.placeOf('b')).toEqual({ place: 1, of: 2 })
})

test('when one leaves, the last takes its place', () => {
  const order = groupOrder<string>()
  for (const member of ['a', 'b', 'c']) order.joined(member)
  order.left('a')
  expect(order.placeOf('c')).toEqual({ place: 0, of: 2 })
  expect(order.placeOf('b')).toEqual({ place: 1, of: 2 })
  expect(order.placeOf('a')).toBeUndefined()
})

test('when the last leaves, all others stay where they are', () => {
  const order = groupOrder<string>()
  for (const member of ['a', 'b', 'c']) order.joined(member)
  order.left('c')
  expect(order.placeOf('a')).toEqual({ place: 0, of: 2 })
  expect(order.placeOf('b')).toEqual({ place: 1, of: 2 })
})

test('who is not there leaves without a trace', () => {
  const order = groupOrder<string>()
  order.joined('a')
  order.left('b')
  order.left('b')
  expect(order.placeOf('a')).toEqual({ place: 0, of: 1 })
})

test('whatever happens, each member has a place of its own and no place is empty', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ member: fc.nat(6), leaves: fc.boolean() })), (events) => {
      const order = groupOrder<number>(),
        present = new Set<number>()
      for (const { member, leaves } of events) {
        if (leaves) order.left(member)
        else if (!present.has(member)) order.joined(member)
        present[leaves ? 'delete' : 'add'](member)
      }
      const places = [...present].map((member) => order.placeOf(member))
      expect(places.map((found) => found?.place ?? -1).toSorted()).toEqual([...present].map((_, index) => index))
      expect(places.every((found) => found?.of === present.size)).toBe(true)
    }),
  )
})

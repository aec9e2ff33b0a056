import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { socketOrder } from './socket-order.ts'

test('a new member is the last', () => {
  const order = socketOrder<string>()
  order.add('a')
  order.add('b')
  expect(order.positionOf('a')).toEqual({ index: 0, count: 2 })
  expect(order.positionOf('b')).toEqual({ index: 1, count: 2 })
})

test('the last member takes the position of one that leaves', () => {
  const order = socketOrder<string>()
  for (const member of ['a', 'b', 'c']) order.add(member)
  order.remove('a')
  expect(order.positionOf('c')).toEqual({ index: 0, count: 2 })
  expect(order.positionOf('b')).toEqual({ index: 1, count: 2 })
  expect(order.positionOf('a')).toBeUndefined()
})

test('the others keep their positions when the last one leaves', () => {
  const order = socketOrder<string>()
  for (const member of ['a', 'b', 'c']) order.add(member)
  order.remove('c')
  expect(order.positionOf('a')).toEqual({ index: 0, count: 2 })
  expect(order.positionOf('b')).toEqual({ index: 1, count: 2 })
})

test('an unknown member leaves without effect', () => {
  const order = socketOrder<string>()
  order.add('a')
  order.remove('b')
  order.remove('b')
  expect(order.positionOf('a')).toEqual({ index: 0, count: 1 })
})

test('every position always has exactly one member', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ member: fc.nat(6), leaves: fc.boolean() })), (events) => {
      const order = socketOrder<number>(),
        present = new Set<number>()
      for (const { member, leaves } of events) {
        if (leaves) order.remove(member)
        else if (!present.has(member)) order.add(member)
        present[leaves ? 'delete' : 'add'](member)
      }
      const places = [...present].map((member) => order.positionOf(member))
      expect(places.map((found) => found?.index ?? -1).toSorted()).toEqual([...present].map((_, index) => index))
      expect(places.every((found) => found?.count === present.size)).toBe(true)
    }),
  )
})

import { describe, expect, test } from 'bun:test'
import { slotNames as slotsOfThePage } from '../../web/slots.ts'
import { checkClaim, SlotError, slotNames } from './slots.ts'

test('slotNames equals the slots of the page', () => {
  expect(slotNames).toEqual([...slotsOfThePage])
})

describe('a claim', () => {
  test.each([
    ['of no slot', [], []],
    ['of a free slot', ['SignIn'], [{ name: 'other', slots: [] }]],
    ['of a slot that it claimed before a restart', ['SignIn'], [{ name: 'one', slots: ['SignIn'] }]],
    ['of the same slot twice', ['SignIn', 'SignIn'], []],
  ])('%s is accepted', (_name, slots, others) => {
    expect(() => checkClaim({ name: 'one', slots }, others)).not.toThrow()
  })

  test('of an unknown slot throws an error that names extension and slot', () => {
    expect(() => checkClaim({ name: 'one', slots: ['SignIn', 'signIn'] }, [])).toThrow(
      new SlotError("one claims the slot 'signIn' of the page, which does not exist: the slots are SignIn"),
    )
  })

  test('of another extension’s slot throws an error that names both extensions and the slot', () => {
    expect(() =>
      checkClaim({ name: 'two', slots: ['SignIn'] }, [
        { name: 'none', slots: [] },
        { name: 'one', slots: ['SignIn'] },
      ]),
    ).toThrow(new SlotError("one and two both claim the slot 'SignIn' of the page: only one of them can be on"))
  })
})

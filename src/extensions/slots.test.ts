import { describe, expect, test } from 'bun:test'
import { slotNames as slotsOfThePage } from '../../web/slots.ts'
import { checkClaim, SlotFault, slotNames } from './slots.ts'

test('the slots are those of the page', () => {
  expect(slotNames).toEqual([...slotsOfThePage])
})

describe('a claim', () => {
  test.each([
    ['of nothing', [], []],
    ['of a free slot', ['SignIn'], [{ name: 'other', slots: [] }]],
    ['of a slot it had before it was started again', ['SignIn'], [{ name: 'one', slots: ['SignIn'] }]],
    ['of the same slot twice', ['SignIn', 'SignIn'], []],
  ])('%s is let pass', (_name, slots, others) => {
    expect(() => checkClaim({ name: 'one', slots }, others)).not.toThrow()
  })

  test('of a slot that does not exist names both', () => {
    expect(() => checkClaim({ name: 'one', slots: ['SignIn', 'signIn'] }, [])).toThrow(
      new SlotFault("one claims the slot 'signIn' of the page, which does not exist: the slots are SignIn"),
    )
  })

  test('of a slot that another has names both and the slot', () => {
    expect(() =>
      checkClaim({ name: 'two', slots: ['SignIn'] }, [
        { name: 'none', slots: [] },
        { name: 'one', slots: ['SignIn'] },
      ]),
    ).toThrow(new SlotFault("one and two both claim the slot 'SignIn' of the page: only one of them can be on"))
  })
})

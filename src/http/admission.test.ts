import { describe, expect, test } from 'bun:test'
import { refusalOf } from './admission.ts'

/** Asks once, with so many slow uploads to be ended. @returns the refusal's message, and how many were ended */
function asked({
  isFull = false,
  hasRoom = true,
  lacksDescriptors = false,
  slow = 5,
}): readonly [string | undefined, number] {
  let ended = 0
  const refusal = refusalOf(new Request('http://x/'), {
    requestsMost: () => 10,
    underWay: { count: isFull ? 10 : 9 },
    hasRoom: () => hasRoom,
    lacksDescriptors: () => lacksDescriptors,
    uploads: {
      endSlow() {
        if (ended === slow) return false
        ended += 1
        return true
      },
    },
  })
  return [refusal?.message, ended]
}

const tooMany = 'The service has as many requests as it may have',
  noDescriptors = 'The service is out of descriptors; try again shortly'

describe('a request', () => {
  test.each([
    ['begins where there is room', {}, [undefined, 0]],
    ['begins in the place of a slow upload', { isFull: true }, [undefined, 1]],
    ['is refused where nobody gives way', { isFull: true, slow: 0 }, [tooMany, 0]],
    [
      'is refused without descriptors, and a slow upload gives its own back',
      { hasRoom: false, lacksDescriptors: true },
      [noDescriptors, 1],
    ],
    [
      'is refused without a look at the descriptors, and nobody is ended for it',
      { hasRoom: false },
      [noDescriptors, 0],
    ],
    [
      'is refused where both are short, and one upload is ended, not two',
      { isFull: true, hasRoom: false, lacksDescriptors: true },
      [noDescriptors, 1],
    ],
  ] as const)('%s', (_name, state, expected) => {
    expect(asked(state)).toEqual([...expected])
  })
})

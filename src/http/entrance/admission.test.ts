import { describe, expect, test } from 'bun:test'
import { refusalOf } from './admission.ts'

/** Refuses or admits one request. @returns the message of the refusal, and the number of ended uploads */
function asked({
  isFull = false,
  hasDescriptors = true,
  lacksDescriptors = false,
  slow = 5,
}): readonly [string | undefined, number] {
  let ended = 0
  const refusal = refusalOf(new Request('http://x/'), {
    requestsMax: () => 10,
    openRequests: { count: isFull ? 10 : 9 },
    hasDescriptors: () => hasDescriptors,
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

const tooMany = 'The service is at its concurrency limit',
  noDescriptors = 'File descriptor limit reached; try again shortly'

describe('a request', () => {
  test.each([
    ['begins where there is room', {}, [undefined, 0]],
    ['begins in the place of a slow upload', { isFull: true }, [undefined, 1]],
    ['is refused without slow uploads', { isFull: true, slow: 0 }, [tooMany, 0]],
    [
      'is refused without descriptors, and a slow upload is ended',
      { hasDescriptors: false, lacksDescriptors: true },
      [noDescriptors, 1],
    ],
    [
      'is refused without a count of the descriptors, and no upload is ended',
      { hasDescriptors: false },
      [noDescriptors, 0],
    ],
    [
      'is refused at both limits, and one upload is ended, not two',
      { isFull: true, hasDescriptors: false, lacksDescriptors: true },
      [noDescriptors, 1],
    ],
  ] as const)('%s', (_name, state, expected) => {
    expect(asked(state)).toEqual([...expected])
  })
})

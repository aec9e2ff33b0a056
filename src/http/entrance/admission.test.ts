import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type OpenRequest, openRequests, refusalOf, type Stoppable } from './admission.ts'

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

function request(stop = () => {}, peerPort?: number): Stoppable {
  return { stop, peerPort: () => peerPort }
}

describe('open requests', () => {
  test('are counted until they end', () => {
    const requests = openRequests()
    const [one, other] = [requests.begin(request()), requests.begin(request())]
    expect(requests.count).toBe(2)
    one.end()
    expect(requests.count).toBe(1)
    one.end()
    expect(requests.count).toBe(1)
    other.end()
    expect(requests.count).toBe(0)
    other.end()
    expect(requests.count).toBe(0)
  })

  test('are described while they are open, the oldest 200', () => {
    const requests = openRequests()
    const describe = (time: number) => () => ({
      time,
      id: String(time),
      api: 'chat',
      model: '',
      stream: false,
      trail: [],
    })
    const all = Array.from({ length: 250 }, (_, index) =>
      requests.begin({ ...request(), describe: describe(1_000 - index) }),
    )
    requests.begin(request())
    expect(requests.running().count).toBe(251)
    expect(requests.running().requests.map(({ time }) => time)).toEqual(
      Array.from({ length: 200 }, (_, index) => 751 + index),
    )
    for (const each of all) each.end()
    expect(requests.running()).toEqual({ count: 1, requests: [] })
  })

  test('are described by their id', () => {
    const requests = openRequests()
    const describe = (id: string) => () => ({ time: 1, id, api: 'chat', model: '', stream: false, trail: [] })
    for (const id of ['a', 'b', 'a']) requests.begin({ ...request(), id, describe: describe(id) })
    expect(requests.running('a')).toMatchObject({ count: 2, requests: [{ id: 'a' }, { id: 'a' }] })
    expect(requests.running('c')).toEqual({ count: 0, requests: [] })
  })

  test('are awaited by every caller, until the last has ended', async () => {
    const requests = openRequests()
    const [one, other] = [requests.begin(request()), requests.begin(request())]
    const idle: string[] = []
    const waits = ['a', 'b'].map((name) => requests.idle().then(() => idle.push(name)))
    one.end()
    await Promise.resolve()
    expect(idle).toEqual([])
    other.end()
    await Promise.all(waits)
    expect(idle).toEqual(['a', 'b'])
  })

  test('are known by the remote ports of open connections', () => {
    const requests = openRequests()
    let port: number | undefined = 4_000
    requests.begin({ stop() {}, peerPort: () => port })
    requests.begin(request())
    expect(requests.peers()).toEqual(new Set([4_000]))
    port = undefined
    expect(requests.peers()).toEqual(new Set())
  })

  test('are those that began and did not end, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 60 }), (steps) => {
        const requests = openRequests()
        const open = new Map<number, OpenRequest>()
        for (const port of steps) {
          const known = open.get(port)
          known?.end()
          if (known === undefined) open.set(port, requests.begin(request(undefined, port)))
          else open.delete(port)
          expect(requests.peers()).toEqual(new Set(open.keys()))
        }
      }),
    )
  })

  test('resolve idle at once when none is open', async () => {
    await openRequests().idle()
  })

  test('are all stopped, also when stopping ends them', () => {
    const requests = openRequests()
    const stopped: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const entry = requests.begin(
        request(() => {
          stopped.push(name)
          entry.end()
        }),
      )
    }
    requests.stopAll()
    expect(stopped).toEqual(['a', 'b', 'c'])
    expect(requests.count).toBe(0)
  })

  test('are not stopped after their end', () => {
    const requests = openRequests()
    let stops = 0
    requests
      .begin(
        request(() => {
          stops += 1
        }),
      )
      .end()
    requests.stopAll()
    expect(stops).toBe(0)
  })
})

import { describe, expect, test } from 'bun:test'
import { openRequests } from './open-requests.ts'

describe('open requests', () => {
  test('are counted until they end', () => {
    const requests = openRequests()
    const ends = [requests.begin(() => undefined), requests.begin(() => undefined)]
    expect(requests.count).toBe(2)
    ends[0]?.()
    expect(requests.count).toBe(1)
    ends[0]?.()
    expect(requests.count).toBe(1)
    ends[1]?.()
    expect(requests.count).toBe(0)
  })

  test('are awaited by every caller, until the last has ended', async () => {
    const requests = openRequests()
    const end = requests.begin(() => undefined)
    const other = requests.begin(() => undefined)
    const idle: string[] = []
    const waits = ['a', 'b'].map((name) => requests.idle().then(() => idle.push(name)))
    end()
    await Promise.resolve()
    expect(idle).toEqual([])
    other()
    await Promise.all(waits)
    expect(idle).toEqual(['a', 'b'])
  })

  test('are known by the remote ports of open connections', () => {
    const requests = openRequests()
    let port: number | undefined = 4_000
    requests.begin(
      () => undefined,
      () => port,
    )
    requests.begin(() => undefined)
    expect(requests.peers()).toEqual(new Set([4_000]))
    port = undefined
    expect(requests.peers()).toEqual(new Set())
  })

  test('resolve idle at once when none is open', async () => {
    await openRequests().idle()
  })

  test('are all stopped, also when stopping ends them', () => {
    const requests = openRequests()
    const stopped: string[] = []
    const ends: (() => void)[] = []
    for (const name of ['a', 'b', 'c']) {
      const end = requests.begin(() => {
        stopped.push(name)
        end()
      })
      ends.push(end)
    }
    requests.stopAll()
    expect(stopped).toEqual(['a', 'b', 'c'])
    expect(requests.count).toBe(0)
  })

  test('are not stopped after their end', () => {
    const requests = openRequests()
    let stops = 0
    requests.begin(() => {
      stops += 1
    })()
    requests.stopAll()
    expect(stops).toBe(0)
  })
})

import { describe, expect, test } from 'bun:test'
import { underWay } from './under-way.ts'

describe('the requests under way', () => {
  test('are counted until they end', () => {
    const requests = underWay()
    const ends = [requests.begin(() => undefined), requests.begin(() => undefined)]
    expect(requests.count).toBe(2)
    ends[0]?.()
    expect(requests.count).toBe(1)
    ends[0]?.()
    expect(requests.count).toBe(1)
    ends[1]?.()
    expect(requests.count).toBe(0)
  })

  test('are waited for by everyone who asks, until the last has ended', async () => {
    const requests = underWay()
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

  test('are known by the ports of their clients, as long as these are connected', () => {
    const requests = underWay()
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

  test('are none at once when there is none', async () => {
    await underWay().idle()
  })

  test('are all stopped, also when stopping ends them', () => {
    const requests = underWay()
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

  test('that have ended are not stopped', () => {
    const requests = underWay()
    let stops = 0
    requests.begin(() => {
      stops += 1
    })()
    requests.stopAll()
    expect(stops).toBe(0)
  })
})

import { describe, expect, test } from 'bun:test'
import { PartList } from './parts.ts'

interface Given {
  readonly events: string[]
}

/** Two parts that write down their start and end, the second one later than the first. */
function twoParts() {
  return PartList.of<Given>()
    .add(
      ({ events }) => ({ first: events.push('start first') }),
      ({ events, first }) => events.push(`close first, made as ${first}`),
    )
    .add(
      async ({ events, first }) => {
        await Bun.sleep(1)
        return { second: `after ${first}`, third: events.push('start second') }
      },
      async ({ events, second }) => {
        await Bun.sleep(1)
        events.push(`close second, made ${second}`)
      },
    )
}

describe('a list of parts', () => {
  test('starts in its order and closes in reverse, one after the other', async () => {
    const events: string[] = []
    const { parts, close } = await twoParts().start({ events })
    expect(parts).toEqual({ events, first: 1, second: 'after 1', third: 2 })
    await close()
    expect(events).toEqual(['start first', 'start second', 'close second, made after 1', 'close first, made as 1'])
  })

  test('closes the parts before one that fails to start, in reverse, and no others', async () => {
    const events: string[] = []
    const failing = twoParts()
      .add(
        () => Promise.reject(new Error('no port')),
        () => events.push('close what never started'),
      )
      .add(() => ({ fourth: events.push('start fourth') }))
    expect(await failing.start({ events }).catch((error: Error) => error.message)).toBe('no port')
    expect(events.slice(2)).toEqual(['close second, made after 1', 'close first, made as 1'])
  })

  test('closes all parts when one fails to close, and then throws', async () => {
    const events: string[] = []
    const failing = twoParts().add(
      () => ({}),
      () => Promise.reject(new Error('cannot close')),
    )
    const { close } = await failing.start({ events })
    expect(await close().catch((error: Error) => error.message)).toBe('cannot close')
    expect(events.slice(2)).toEqual(['close second, made after 1', 'close first, made as 1'])
  })

  test('tells why a start failed, also if a part before it cannot be closed', async () => {
    const failing = PartList.of<object>()
      .add(
        () => ({}),
        () => Promise.reject(new Error('cannot close')),
      )
      .add(() => Promise.reject(new Error('no port')))
    expect(await failing.start({}).catch((error: Error) => error.message)).toBe('no port')
  })

  test('closes once', async () => {
    const events: string[] = []
    const { close } = await twoParts().start({ events })
    await Promise.all([close(), close()])
    expect(events.filter((event) => event.startsWith('close'))).toHaveLength(2)
  })
})

import { describe, expect, test } from 'bun:test'
import { memoryStores } from './memory.ts'
import { answerStoreOperation, remoteStores, type StoreOperation } from './remote.ts'
import { StoreUnavailable, type Store, type Stores } from './store.ts'
import { limitContract } from './testing-limits.ts'
import { ampleOptions, storeContract, unusedName, wallClock } from './testing.ts'

/** Stores of another process, through a channel that carries JSON. */
function across(kept: Stores): Stores {
  return remoteStores(async (operation) => {
    const asked: StoreOperation = JSON.parse(JSON.stringify(operation))
    return JSON.parse(JSON.stringify(await answerStoreOperation(kept, asked)))
  })
}

storeContract('remote', async (now) => across(memoryStores(now)))

limitContract('remote', async () => {
  const clock = wallClock()
  return {
    stores: across(memoryStores(clock.now)),
    async elapse(_limit, ms) {
      clock.time += ms
    },
  }
})

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => 'nothing',
    (error: unknown) => error,
  )
}

describe('remote', () => {
  test('the asking process checks a value', async () => {
    const kept = memoryStores(Date.now),
      name = unusedName()
    await kept.open<unknown>(name, { ...ampleOptions, parse: (value) => value }).set('key', { not: 'a text' }, 'owner')
    expect(await across(kept).open(name, ampleOptions).get('key')).toBeUndefined()
  })

  test('several processes share the stores of one, and none of them closes these', async () => {
    const kept = memoryStores(Date.now),
      name = unusedName(),
      one = across(kept)
    await one.open(name, ampleOptions).set('key', 'value', 'owner')
    await one.close()
    expect(await across(kept).open(name, ampleOptions).take('key')).toBe('value')
  })

  test('an unavailable store there is unavailable here, with the same message', async () => {
    const away = async (): Promise<never> => {
      throw new StoreUnavailable('the server of the store cannot be reached')
    }
    const stores = across({
      open: () => ({ get: away, set: away, take: away, takeAll: away, delete: away, list: away }),
      limit: () => ({ take: away }),
      close: away,
    })
    const store = stores.open('states', ampleOptions)
    for (const asking of [
      stores.limit('requests', { perMinute: 1 }).take('client'),
      store.get('key'),
      store.set('key', 'value', 'owner'),
      store.take('key'),
      store.takeAll('owner'),
      store.delete('key'),
    ]) {
      expect(await failure(asking)).toEqual(new StoreUnavailable('the server of the store cannot be reached'))
    }
  })

  test.each([
    [
      'cannot be asked',
      async () => {
        throw new Error('the channel is closed')
      },
      'the process that keeps the store does not answer',
    ],
    ['answers with nothing', async () => null, 'the process that keeps the store answers with something else'],
    ['answers with a text', async () => 'value', 'the process that keeps the store answers with something else'],
  ])('is unavailable when the other process %s', async (_what, ask, message) => {
    const store: Store<string> = remoteStores(ask).open('states', ampleOptions)
    const error = await failure(store.get('key'))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message })
  })

  test('an internal error there is no answer', async () => {
    const mistaken = async (): Promise<never> => {
      throw new TypeError('a mistake')
    }
    const kept: Stores = {
      open: () => ({
        get: mistaken,
        set: mistaken,
        take: mistaken,
        takeAll: mistaken,
        delete: mistaken,
        list: mistaken,
      }),
      limit: () => ({ take: mistaken }),
      close: mistaken,
    }
    expect(
      await failure(answerStoreOperation(kept, { kind: 'get', store: 'states', bounds: ampleOptions, key: 'key' })),
    ).toBeInstanceOf(TypeError)
  })
})

import { describe, expect, test } from 'bun:test'
import type { PresetEntry, PresetsAnswer } from '../../src/http/page/page-api.ts'
import { Unreachable } from '../api/client.ts'
import { memoryHistory } from '../history/memory-history.ts'
import { conversationOf } from '../history/testing.ts'
import { importJson, exportJson } from '../history/transfer.ts'
import { ownPresetsMax, type Preset } from './preset.ts'
import { PresetsStore } from './presets-store.ts'

interface Scene {
  readonly store: PresetsStore
  readonly posted: unknown[]
  names(): readonly string[]
}

/** A store with presets of the service, of an owner. */
async function scene(shared: readonly PresetEntry[] | Error = [], version: string | null = 'v'): Promise<Scene> {
  const posted: unknown[] = []
  let entries = shared
  const answer = (): Promise<unknown> =>
    entries instanceof Error
      ? Promise.reject(entries)
      : Promise.resolve({
          presets: entries,
          ...(version === null ? {} : { version, file: '/presets.json' }),
        } satisfies PresetsAnswer)
  const client = {
    get: answer,
    post(_: string, body: { readonly name: string; readonly before?: string; readonly preset: object | null }) {
      posted.push(body)
      const others = (entries instanceof Error ? [] : entries).filter(({ name }) => name !== (body.before ?? body.name))
      entries = body.preset === null ? others : [...others, { name: body.name, ...body.preset }]
      return answer()
    },
  }
  const store = new PresetsStore(
    client as ConstructorParameters<typeof PresetsStore>[0],
    Promise.resolve(memoryHistory()),
  )
  await store.refresh()
  return {
    store,
    posted,
    names: () => store.state.get().presets.map(({ name, isShared }) => (isShared ? `${name} (shared)` : name)),
  }
}

const own = (name: string): Preset => ({ name, prompt: name, isShared: false })
const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )

describe('presets', () => {
  test('are own ones by name, then those of the service in their order', async () => {
    const { store, names } = await scene([{ name: 'z' }, { name: 'a' }])
    await store.put(own('m'))
    await store.put(own('b'))
    expect(names()).toEqual(['b', 'm', 'z (shared)', 'a (shared)'])
    expect(store.state.get()).toMatchObject({ isLoading: false, file: '/presets.json' })
  })

  test('are renamed and removed', async () => {
    const { store, names } = await scene()
    await store.put(own('m'))
    const [before] = store.state.get().presets
    await store.put({ ...own('n'), prompt: 'Other' }, before)
    expect(store.state.get().presets).toMatchObject([{ name: 'n', prompt: 'Other' }])
    const [renamed] = store.state.get().presets
    if (renamed !== undefined) await store.remove(renamed)
    expect(names()).toEqual([])
  })

  test('become shared, and own again', async () => {
    const { store, posted, names } = await scene()
    await store.put(own('m'))
    const [before] = store.state.get().presets
    await store.put({ ...own('m'), isShared: true }, before)
    expect(names()).toEqual(['m (shared)'])
    const [shared] = store.state.get().presets
    await store.put({ ...own('mine'), isShared: false }, shared)
    expect(names()).toEqual(['mine'])
    expect(posted).toEqual([
      { version: 'v', name: 'm', preset: { prompt: 'm' } },
      { version: 'v', name: 'm', preset: null },
    ])
  })

  test('have one name each, and a maximum', async () => {
    const { store } = await scene()
    await store.put(own('m'))
    expect(await messageOf(store.put(own('m')))).toBe('You have a preset m already')
    for (let index = 1; index < ownPresetsMax; index++) await store.put(own(`p${index}`))
    expect(await messageOf(store.put(own('more')))).toContain('which is the maximum')
  })

  test('cannot be shared without the right', async () => {
    const { store, names } = await scene([{ name: 'a' }], null)
    expect(await messageOf(store.put({ ...own('m'), isShared: true }))).toContain('cannot be changed here')
    expect(names()).toEqual(['a (shared)'])
  })

  test('of one’s own are there while the service cannot be reached', async () => {
    const { store, names } = await scene(new Unreachable('The service cannot be reached'))
    await store.put(own('m'))
    expect(names()).toEqual(['m'])
    expect(store.state.get().fault).toContain('cannot be reached')
  })

  test('are exported and imported, of any conversation only what a preset has', async () => {
    const one = await scene()
    await one.store.put({ ...own('m'), system: 'Be brief.' })
    const file = await exportJson(await (await one.store.history).all(), new Date())
    const other = await scene()
    const history = await other.store.history
    expect(await importJson(file, history)).toMatchObject({ added: 1, same: 0, faults: [] })
    expect(await importJson(file, history)).toMatchObject({ added: 0, same: 1, faults: [] })
    expect(other.store.state.get().presets).toMatchObject([{ name: 'm', system: 'Be brief.' }])
    await importJson(await exportJson([conversationOf({ id: 'c9' })], new Date()), history)
    expect(other.names()).toEqual(['m', 'Monads'])
    expect((await history.get('c9'))?.messages).toMatchObject([{ role: 'user', text: 'What is a monad?', images: [] }])
  })
})

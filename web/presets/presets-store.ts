import type { PresetChange, PresetsAnswer } from '../../src/http/page/page-api.ts'
import type { HistoryStore } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import type { Services } from '../services.ts'
import { createStore, type Store } from '../store.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { asConversation, fromConversation, membersOf, ownPresetsMax, sharedPreset, type Preset } from './preset.ts'

/** The presets of the user, and those of the service. */
export interface PresetsState {
  readonly isLoading: boolean
  /** Own ones first, each part in the order of names or of the file. */
  readonly presets: readonly Preset[]
  /** Path of presets.json; for owners only. */
  readonly file?: string | undefined
  /** Why presets.json is not in use, or could not be fetched. */
  readonly fault?: string | undefined
}

/** Reads and changes presets. */
export interface PresetsStore {
  readonly state: Store<PresetsState>
  /** Reads all again. Never rejects. */
  refresh(): Promise<void>
  /** Writes a preset. @param before the stored one that it replaces @throws with a text for the user */
  put(preset: Preset, before?: Preset): Promise<void>
  /** @throws with a text for the user */
  remove(preset: Preset): Promise<void>
  /** The history of own presets, for export and import. Writes to it become presets. */
  readonly history: Promise<HistoryStore>
}

/** One per user. */
const known = new WeakMap<HistoryStore, PresetsStore>()

/** Returns the presets of the user: always the same object. */
export function presetsOf({ client, history, openHistory }: Services): PresetsStore {
  const found = known.get(history) ?? presetsStore(client, openHistory('presets'))
  known.set(history, found)
  return found
}

/** Creates the store. @param opened the history of own presets, which has nothing else */
export function presetsStore(
  client: Pick<Services['client'], 'get' | 'post'>,
  opened: Promise<HistoryStore>,
): PresetsStore {
  const state = createStore<PresetsState>({ isLoading: true, presets: [] })
  let answer: PresetsAnswer | undefined
  let isSubscribed = false

  async function readOwn(): Promise<readonly Preset[]> {
    const own = await opened
    if (!isSubscribed) own.subscribe(() => void refreshOwn())
    isSubscribed = true
    const all = await own.all().catch(() => [])
    return all.map(fromConversation).toSorted((one, other) => one.name.localeCompare(other.name))
  }

  async function refreshOwn(): Promise<void> {
    const own = await readOwn()
    state.update((before) => ({ ...before, presets: [...own, ...before.presets.filter(({ isShared }) => isShared)] }))
  }

  async function refresh(): Promise<void> {
    const [own, shared] = await Promise.all([
      readOwn(),
      client.get<PresetsAnswer>('/api/presets').catch((error: unknown) => error),
    ])
    const isFailed = shared instanceof Error
    if (!isFailed) answer = shared as PresetsAnswer
    state.set({
      isLoading: false,
      presets: [...own, ...(answer?.presets ?? []).map(sharedPreset)],
      file: answer?.file,
      fault: isFailed ? say.presets.notFetched(shared.message) : answer?.fault,
    })
  }

  async function change(what: Omit<PresetChange, 'version'>): Promise<void> {
    const version = answer?.version
    if (version === undefined) throw new Error(answer?.fault ?? say.presets.cannotBeChanged)
    try {
      answer = await client.post<PresetsAnswer>('/api/presets', { ...what, version } satisfies PresetChange)
    } finally {
      await refresh()
    }
  }

  /** @param time Unix milliseconds */
  async function putOwn(preset: Preset, id: string, time: number): Promise<void> {
    const others = state.get().presets.filter((each) => !each.isShared && each.id !== id)
    if (others.some(({ name }) => name === preset.name)) throw new Error(say.presets.alreadyYours(preset.name))
    if (others.length >= ownPresetsMax) throw new Error(say.presets.atMost(formatCount(ownPresetsMax)))
    await (await opened).restore(asConversation(preset, id, time))
  }

  async function removeOwn({ id }: Preset): Promise<void> {
    if (id !== undefined) await (await opened).remove(id)
  }

  return {
    state,
    refresh,
    async put(preset, before) {
      if (preset.isShared) {
        const name = before?.isShared === true ? { before: before.name } : {}
        await change({ name: preset.name, ...name, preset: { ...membersOf(preset) } })
        if (before?.isShared === false) await removeOwn(before)
      } else {
        await putOwn(preset, before?.id ?? newId(), Date.now())
        if (before?.isShared === true) await change({ name: before.name, preset: null })
      }
      await refreshOwn()
    },
    async remove(preset) {
      if (preset.isShared) await change({ name: preset.name, preset: null })
      else await removeOwn(preset)
      await refreshOwn()
    },
    history: opened.then((own) => ({
      ...own,
      async restore(conversation) {
        await putOwn(fromConversation(conversation), conversation.id, conversation.created)
        await refreshOwn()
      },
    })),
  }
}

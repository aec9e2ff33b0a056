import type { PresetChange, PresetsAnswer } from '../../src/http/page/page-api.ts'
import type { HistoryStore } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import type { Services } from '../services.ts'
import { createStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import {
  asConversation,
  asStanding,
  fromConversation,
  isStanding,
  membersOf,
  ownPresetsMax,
  sharedPreset,
  type Preset,
} from './preset.ts'
import { standingPreset } from './standing-preset.ts'

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

/** One per user. */
const known = new WeakMap<HistoryStore, PresetsStore>()

/** Returns the presets of the user: always the same object. */
export function presetsOf({ boot, client, history, openHistory }: Services): PresetsStore {
  const found = known.get(history) ?? followed(new PresetsStore(client, openHistory('presets')), boot.user?.id)
  known.set(history, found)
  return found
}

/** Keeps the copy of the standing preset as the preset is. One that is not shared any more ends. */
function followed(store: PresetsStore, userId: string | undefined): PresetsStore {
  const copy = standingPreset(userId)
  store.state.subscribe(() => {
    const standing = copy.get()
    const { presets, fault, isLoading } = store.state.get()
    const preset = presets.find((each) => isStanding(each, standing))
    const isKnown = !isLoading && fault === undefined && standing?.id === undefined
    if (standing === undefined || (preset === undefined && !isKnown)) return
    const next = preset === undefined ? undefined : asStanding(preset)
    if (JSON.stringify(next) !== JSON.stringify(standing)) copy.set(next)
  })
  return store
}

/** Reads and changes presets. */
export class PresetsStore {
  readonly state = createStore<PresetsState>({ isLoading: true, presets: [] })
  /** The history of own presets, for export and import. Writes to it become presets. */
  readonly history: Promise<HistoryStore>
  readonly #client: Pick<Services['client'], 'get' | 'post'>
  readonly #opened: Promise<HistoryStore>
  #answer: PresetsAnswer | undefined
  #isSubscribed = false

  /** @param opened the history of own presets, which has nothing else */
  constructor(client: Pick<Services['client'], 'get' | 'post'>, opened: Promise<HistoryStore>) {
    this.#client = client
    this.#opened = opened
    this.history = opened.then((own) => ({
      ...own,
      restore: async (conversation) => {
        await this.#putOwn(fromConversation(conversation), conversation.id, conversation.created)
        await this.#refreshOwn()
      },
    }))
  }

  /** Reads all again. Never rejects. */
  async refresh(): Promise<void> {
    const [own, shared] = await Promise.all([
      this.#readOwn(),
      this.#client.get<PresetsAnswer>('/api/presets').catch((error: unknown) => error),
    ])
    const isFailed = shared instanceof Error
    if (!isFailed) this.#answer = shared as PresetsAnswer
    this.state.set({
      isLoading: false,
      presets: [...own, ...(this.#answer?.presets ?? []).map(sharedPreset)],
      file: this.#answer?.file,
      fault: isFailed ? say.presets.notFetched(shared.message) : this.#answer?.fault,
    })
  }

  /** Writes a preset. @param before the stored one that it replaces @throws with a text for the user */
  async put(preset: Preset, before?: Preset): Promise<void> {
    if (preset.isShared) {
      const name = before?.isShared === true ? { before: before.name } : {}
      await this.#change({ name: preset.name, ...name, preset: { ...membersOf(preset) } })
      if (before?.isShared === false) await this.#removeOwn(before)
    } else {
      await this.#putOwn(preset, before?.id ?? newId(), Date.now())
      if (before?.isShared === true) await this.#change({ name: before.name, preset: null })
    }
    await this.#refreshOwn()
  }

  /** @throws with a text for the user */
  async remove(preset: Preset): Promise<void> {
    if (preset.isShared) await this.#change({ name: preset.name, preset: null })
    else await this.#removeOwn(preset)
    await this.#refreshOwn()
  }

  async #readOwn(): Promise<readonly Preset[]> {
    const own = await this.#opened
    if (!this.#isSubscribed) own.subscribe(() => void this.#refreshOwn())
    this.#isSubscribed = true
    const all = await own.all().catch(() => [])
    return all.map(fromConversation).toSorted((one, other) => one.name.localeCompare(other.name))
  }

  async #refreshOwn(): Promise<void> {
    const own = await this.#readOwn()
    this.state.update((before) => ({
      ...before,
      presets: [...own, ...before.presets.filter(({ isShared }) => isShared)],
    }))
  }

  async #change(what: Omit<PresetChange, 'version'>): Promise<void> {
    const version = this.#answer?.version
    if (version === undefined) throw new Error(this.#answer?.fault ?? say.presets.cannotBeChanged)
    try {
      this.#answer = await this.#client.post('/api/presets', { ...what, version } satisfies PresetChange)
    } finally {
      await this.refresh()
    }
  }

  /** @param time Unix milliseconds */
  async #putOwn(preset: Preset, id: string, time: number): Promise<void> {
    const others = this.state.get().presets.filter((each) => !each.isShared && each.id !== id)
    if (others.some(({ name }) => name === preset.name)) throw new Error(say.presets.alreadyYours(preset.name))
    if (others.length >= ownPresetsMax) throw new Error(say.presets.atMost(formatCount(ownPresetsMax)))
    await (await this.#opened).restore(asConversation(preset, id, time))
  }

  async #removeOwn({ id }: Preset): Promise<void> {
    if (id !== undefined) await (await this.#opened).remove(id)
  }
}

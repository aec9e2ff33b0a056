import type { ChatController } from '../chat/chat-controller.ts'
import { noSettings } from '../chat/chat-state.ts'
import type { Chats } from '../chat/chats.ts'
import { lastQuestion } from '../chat/conversation-changes.ts'
import type { ChatSettings, Conversation, Draft, HistoryStore } from '../history/conversation.ts'
import { branchOf } from '../history/tree.ts'
import { newId } from '../new-id.ts'
import { createStore, type Store } from '../store.ts'

/** Conversations with several models that get the same questions. Each is a column, in a history of its own. */
export interface Comparison {
  readonly columns: Store<readonly ChatController[]>
  /** Adds a column, if there are fewer than {@link columnsMax}. @param model absent until one is selected */
  add(model?: string): void
  /** Removes a column with its messages. */
  remove(column: ChatController): void
  /** Sends a question to the columns with a model. */
  send(draft: Draft): void
  /** Stops all running answers. */
  stop(): void
  /** Changes system prompt and parameters of all columns. Their models stay. */
  changeSettings(settings: Omit<ChatSettings, 'model'>): void
  /** Removes all messages. Models and settings stay. */
  restart(): void
}

/** Numbers of models side by side. */
export const columnsMin = 2,
  columnsMax = 4

export interface ComparisonOptions {
  /** The stored columns; nothing else is in it. */
  readonly history: HistoryStore
  readonly chats: Chats
  /** Models of the columns if none is stored. */
  readonly models: readonly (string | undefined)[]
  /** System prompt and parameters then. */
  readonly begins?: Omit<ChatSettings, 'model'>
}

/** Opens the stored comparison, or begins one. Never rejects: an unreadable one begins anew. */
export async function openComparison({
  history,
  chats,
  models,
  begins = noSettings,
}: ComparisonOptions): Promise<Comparison> {
  const heads = await history.heads().catch(() => [])
  const ids = heads.map(({ id }) => id).toSorted()
  const columns = createStore<readonly ChatController[]>(
    ids.length > 0
      ? ids.slice(0, columnsMax).map((id) => chats.open(id))
      : models.map((model, place) => opened(settingsOf(begins, model), place)),
  )

  /** Ids sort as the columns stand. */
  function opened(settings: ChatSettings, place: number): ChatController {
    return chats.open(`${Date.now()}-${place}-${newId()}`, settings)
  }

  function settings(): ChatSettings {
    const [first] = columns.get()
    return first === undefined ? noSettings : conversationOf(first).settings
  }

  /** Removes stored messages. If that fails, they are replaced by those of the next question. */
  function erase(column: ChatController): void {
    column.stop()
    void history.remove(column.id).catch(() => undefined)
  }

  return {
    columns,
    add(model) {
      const { length } = columns.get()
      if (length >= columnsMax) return
      // The chats opened last are not closed.
      for (const { id } of columns.get()) chats.open(id)
      const added = opened(settingsOf(settings(), model), length)
      columns.update((all) => [...all, added])
    },
    remove(column) {
      columns.update((all) => all.filter((each) => each !== column))
      erase(column)
    },
    send(draft) {
      for (const column of columns.get()) {
        const { model } = conversationOf(column).settings
        if (model !== undefined) column.send(draft, model)
      }
    },
    stop() {
      for (const column of columns.get()) column.stop()
    },
    changeSettings(next) {
      for (const column of columns.get()) column.changeSettings(settingsOf(next, conversationOf(column).settings.model))
    },
    restart() {
      const before = columns.get()
      columns.set(before.map((column, place) => opened(conversationOf(column).settings, place)))
      for (const column of before) erase(column)
    },
  }
}

/** Returns the conversation of a column. */
export function conversationOf(column: ChatController): Conversation {
  return column.state.get().conversation
}

/** Returns a column as a new conversation of the ordinary history. @param now Unix milliseconds */
export function continued(column: Conversation, now: number): Conversation {
  const model = column.settings.model
  return {
    ...column,
    id: newId(),
    title: model === undefined ? column.title : `${column.title.slice(0, titleMax)} (${model})`,
    isTitled: true,
    created: now,
    updated: now,
  }
}

const titleMax = 200

/** Returns the last question to any of the columns. */
export function lastQuestionOf(columns: readonly ChatController[]): Draft | undefined {
  return columns.map((column) => lastQuestion(branchOf(conversationOf(column)))).find((found) => found !== undefined)
}

function settingsOf({ system, parameters }: Omit<ChatSettings, 'model'>, model: string | undefined): ChatSettings {
  return { system, parameters, ...(model === undefined ? {} : { model }) }
}

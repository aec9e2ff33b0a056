import { say } from '../texts/say.ts'

/** A conversation was removed, here or in another tab, after this tab had read it. It was not written. */
export class ConversationRemoved extends Error {
  override readonly name = 'ConversationRemoved'
  readonly id: string

  constructor(id: string) {
    super(say.history.wasDeleted)
    this.id = id
  }
}

/** A conversation could not be parsed again, so it was not written. */
export class InvalidConversation extends Error {
  override readonly name = 'InvalidConversation'
}

/** The page must be reloaded: another tab has upgraded the database to a newer version. */
export class HistoryOutdated extends Error {
  override readonly name = 'HistoryOutdated'

  constructor(options?: ErrorOptions) {
    super(say.history.outdatedError, options)
  }
}

/** The browser’s storage is full. */
export class HistoryFull extends Error {
  override readonly name = 'HistoryFull'

  constructor(options?: ErrorOptions) {
    super(say.history.storageFull, options)
  }
}

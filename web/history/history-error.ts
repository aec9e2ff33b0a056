/** A conversation was removed, here or in another tab, after this tab had it: what was put is not kept. */
export class ConversationRemoved extends Error {
  override readonly name = 'ConversationRemoved'
  readonly id: string

  constructor(id: string) {
    super('This conversation was deleted')
    this.id = id
  }
}

/** What was put could not be read again, so it is not kept. */
export class InvalidConversation extends Error {
  override readonly name = 'InvalidConversation'
}

/**
 * Conversations cannot be read until the page is loaded anew: another tab has brought them into the form of a newer
 * version.
 */
export class HistoryOutdated extends Error {
  override readonly name = 'HistoryOutdated'

  constructor(options?: ErrorOptions) {
    super('This page is older than another tab that is open', options)
  }
}

/** The browser gives no more room. */
export class HistoryFull extends Error {
  override readonly name = 'HistoryFull'

  constructor(options?: ErrorOptions) {
    super('The browser gives no more room', options)
  }
}

import type { TrailEntry } from '../../src/observe/request-entry.ts'

/** A conversation, as stored in the browser. Immutable: changes create a new one. */
export interface Conversation {
  readonly id: string
  readonly title: string
  /** Whether a person or a model chose the title. It is not derived any more then. */
  readonly isTitled: boolean
  readonly isPinned: boolean
  /** Name of its folder, at most 100 characters. Absent: none. A folder exists as long as conversations name it. */
  readonly folder?: string | undefined
  /** Unix milliseconds. */
  readonly created: number
  /** Unix milliseconds of the last message. */
  readonly updated: number
  readonly settings: ChatSettings
  /** All versions of all messages, each after its parent (tree.ts). */
  readonly messages: readonly Message[]
  /** Id of the last message of the shown branch. Absent: there are no versions, and messages follow each other. */
  readonly leaf?: string | undefined
}

/** Settings of a conversation's requests. */
export interface ChatSettings {
  /** Absent until one is selected. */
  readonly model?: string
  /** System prompt; empty if none is sent. */
  readonly system: string
  readonly parameters: Parameters
}

/** Request fields (docs/api.md). Absent fields are not sent, so the provider's defaults apply. */
export interface Parameters {
  readonly temperature?: number
  readonly top_p?: number
  readonly frequency_penalty?: number
  readonly presence_penalty?: number
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly logprobs?: boolean
  readonly top_logprobs?: number
  readonly reasoning_effort?: string
  readonly enable_thinking?: boolean
  /** Default true. */
  readonly stream?: boolean
}

/** A message of a conversation. */
export type Message = UserMessage | AssistantMessage

/** A message of the person. */
export interface UserMessage {
  readonly role: 'user'
  readonly id: string
  /** Id of the message before it. Absent for a first message, and in a conversation without a leaf. */
  readonly parent?: string | undefined
  readonly time: number
  readonly text: string
  readonly images: readonly ImageAttachment[]
  /** Absent: none. */
  readonly files?: readonly FileAttachment[] | undefined
}

/** A file, as text. */
export interface FileAttachment {
  readonly id: string
  readonly name: string
  readonly text: string
}

/** An image, as it is sent. */
export interface ImageAttachment {
  readonly id: string
  readonly name: string
  /** `data:image/…;base64,…` */
  readonly dataUrl: string
  readonly width: number
  readonly height: number
}

/** An answer of a model. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly id: string
  /** As in {@link UserMessage}. */
  readonly parent?: string | undefined
  readonly time: number
  readonly text: string
  /** The model's reasoning; empty if it sent none. */
  readonly reasoning: string
  /** Measured duration of the reasoning, in milliseconds. */
  readonly reasoningMs?: number
  readonly status:
    /** Running. When read from the history, it becomes `interrupted`. */
    | 'streaming'
    | 'complete'
    /** Stopped by the person. */
    | 'stopped'
    /** Ended by the connection, the service or the page. */
    | 'interrupted'
    /** Ended by `error`. */
    | 'failed'
  /** While it is running, and after the connection was lost. */
  readonly live?: LiveAnswer | undefined
  readonly error?: AnswerError
  /** `finish_reason`, such as `length`. */
  readonly finishReason?: string
  /** Absent: none. */
  readonly tools?: readonly ToolCall[]
  readonly logprobs?: readonly TokenLogprob[]
  readonly provenance?: Provenance
}

/** A call of a tool in an answer. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  /** As the model wrote them: JSON, or not. */
  readonly arguments: string
  /** Absent: not known. */
  readonly result?: string
}

/** Where a running answer can be read again. */
export interface LiveAnswer {
  /** The id of its request. */
  readonly id: string
  /** Lengths of text and reasoning before the request, in an answer that is continued. */
  readonly text: number
  readonly reasoning: number
}

/** Why an answer failed: the members of the service's error, or a network failure. */
export interface AnswerError {
  readonly kind: 'wire' | 'network'
  readonly status?: number
  readonly type?: string
  readonly code?: string
  readonly param?: string
  readonly message: string
  /** Seconds until a retry may succeed. */
  readonly retryAfter?: number
}

/** Log probability of a token, with those of its alternatives. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly top: readonly { readonly token: string; readonly logprob: number }[]
}

/** Origin of an answer, with its measurements. */
export interface Provenance {
  readonly requestId: string
  readonly provider?: string
  /** The upstream's name of the model. */
  readonly model?: string
  readonly trail: readonly TrailEntry[]
  readonly firstTokenMs?: number
  readonly totalMs?: number
  readonly promptTokens?: number
  readonly completionTokens?: number
  /** USD. */
  readonly cost?: number
  /** Tokens and cost are estimates, because the answer was stopped or cut. */
  readonly isEstimated?: boolean
}

/** The part of a conversation that the list shows. */
export type ConversationHead = Pick<Conversation, 'id' | 'title' | 'isPinned' | 'folder' | 'created' | 'updated'> & {
  readonly messageCount: number
}

/** A conversation that matches a search. */
export interface SearchHit {
  readonly head: ConversationHead
  /** Text around the first match in a message, and the range of the match in it. Absent if the title matches. */
  readonly excerpt?: { readonly text: string; readonly start: number; readonly end: number; readonly messageId: string }
}

/** Why changes last no longer than this tab. */
export type HistoryFault =
  /** The browser stores nothing here: a private window, or blocked or damaged storage. */
  | 'unavailable'
  /** A tab with an older version of this page blocks the database until it is closed. */
  | 'blocked'
  /** Another tab has a newer version of this page: this one must be reloaded. */
  | 'outdated'
  /** The browser’s storage is full, until something is removed. */
  | 'full'

/** The stored conversations of one user. Writes are durable when their promise resolves, unless `fault` is set. */
export interface HistoryStore {
  /** Absent if everything is stored. Subscribers are called with an empty id when it changes. */
  readonly fault?: HistoryFault | undefined
  /** Pinned ones first, then the newest first. */
  heads(): Promise<readonly ConversationHead[]>
  /** Returns one of {@link HistoryStore.heads}. */
  head(id: string): Promise<ConversationHead | undefined>
  /** Returns a conversation. Messages stored as `streaming` are returned as `interrupted`. */
  get(id: string): Promise<Conversation | undefined>
  /**
   * Writes a conversation, and replaces the one with its id. An image with the same id must have the same content.
   *
   * @throws {ConversationRemoved} if this tab knew it and it was removed since, here or in another tab
   * @throws {InvalidConversation} if it could not be parsed again
   */
  put(conversation: Conversation): Promise<void>
  /** Writes a conversation even if it was removed, as for undo and import. @throws {InvalidConversation} */
  restore(conversation: Conversation): Promise<void>
  /**
   * Changes title, pin or folder while messages may be changing. Does nothing for an unknown id.
   *
   * @throws {InvalidConversation}
   */
  amend(id: string, changes: Amendment): Promise<void>
  /** Removes a conversation and its draft. */
  remove(id: string): Promise<void>
  /** Removes all conversations and drafts. */
  clear(): Promise<void>
  /**
   * Returns conversations whose title and messages contain every word of `query`, ignoring case and accents. The newest
   * first, at most `limit` (default 50).
   */
  search(query: string, limit?: number): Promise<readonly SearchHit[]>
  /** Returns all conversations, for export. */
  all(): Promise<readonly Conversation[]>
  /** Returns the draft of a conversation; `new` is the id of a new one. */
  draft(id: string): Promise<Draft | undefined>
  putDraft(id: string, draft: Draft | undefined): Promise<void>
  /**
   * Calls the listener with the conversation's id on every change, in this tab and others. Returns the unsubscribe
   * function.
   */
  subscribe(listener: (id: string) => void): () => void
  close(): void
}

/** Changes besides messages. A member `folder` that is `undefined` takes the conversation out of its folder. */
export type Amendment = Partial<Pick<Conversation, 'title' | 'isTitled' | 'isPinned' | 'folder'>>

/** An unsent message. */
export interface Draft {
  readonly text: string
  readonly images: readonly ImageAttachment[]
  /** Absent: none. */
  readonly files?: readonly FileAttachment[] | undefined
}

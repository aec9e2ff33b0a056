import type { TrailEntry } from '../../src/http/page-api.ts'

/** A conversation as the browser keeps it. A value: changes make a new one. */
export interface Conversation {
  readonly id: string
  readonly title: string
  /** Whether a person chose the title: then it stays. */
  readonly isTitled: boolean
  readonly isPinned: boolean
  /** Unix milliseconds. */
  readonly created: number
  /** Unix milliseconds of the last message. */
  readonly updated: number
  readonly settings: ChatSettings
  readonly messages: readonly Message[]
}

/** What a conversation is asked with. */
export interface ChatSettings {
  /** Absent: none chosen yet. */
  readonly model?: string
  /** System prompt; empty: none is sent. */
  readonly system: string
  readonly parameters: Parameters
}

/** Request fields of docs/api.md; absent: not sent, the provider's own default counts. */
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

/** One message. */
export type Message = UserMessage | AssistantMessage

/** What a person said. */
export interface UserMessage {
  readonly role: 'user'
  readonly id: string
  readonly time: number
  readonly text: string
  readonly images: readonly ImageAttachment[]
}

/** A picture, as it is sent. */
export interface ImageAttachment {
  readonly id: string
  readonly name: string
  /** `data:image/…;base64,…` */
  readonly dataUrl: string
  readonly width: number
  readonly height: number
}

/** What a model answered. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly id: string
  readonly time: number
  readonly text: string
  /** What it thought before; empty when it did not say. */
  readonly reasoning: string
  /** Milliseconds it thought, as far as that was seen. */
  readonly reasoningMs?: number
  readonly status:
    /** On its way. When the page finds this in what it kept, it was `interrupted`. */
    | 'streaming'
    | 'complete'
    /** By the person. */
    | 'stopped'
    /** The connection, the service or the page ended it. */
    | 'interrupted'
    /** Nothing, or no more, came because of `error`. */
    | 'failed'
  readonly error?: AnswerError
  /** `finish_reason`, such as `length`. */
  readonly finishReason?: string
  readonly logprobs?: readonly TokenLogprob[]
  readonly provenance?: Provenance
}

/** Why there is no answer: the members of the wire's error, or a fault on the way. */
export interface AnswerError {
  readonly kind: 'wire' | 'network'
  readonly status?: number
  readonly type?: string
  readonly code?: string
  readonly param?: string
  readonly message: string
  /** Seconds after which it may be tried again. */
  readonly retryAfter?: number
}

/** One token's log probability, and those of the tokens that might have stood there. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly top: readonly { readonly token: string; readonly logprob: number }[]
}

/** Where an answer comes from, and what it took. */
export interface Provenance {
  readonly requestId: string
  readonly provider?: string
  /** The upstream's name for the model. */
  readonly model?: string
  readonly trail: readonly TrailEntry[]
  readonly firstTokenMs?: number
  readonly totalMs?: number
  readonly promptTokens?: number
  readonly completionTokens?: number
  /** USD. */
  readonly cost?: number
}

/** What a list shows of a conversation. */
export type ConversationHead = Pick<Conversation, 'id' | 'title' | 'isPinned' | 'created' | 'updated'> & {
  readonly messageCount: number
}

/** A conversation in which something was found. */
export interface SearchHit {
  readonly head: ConversationHead
  /** The place around the first match in a message, and where the match lies in it; absent: it is in the title. */
  readonly excerpt?: { readonly text: string; readonly start: number; readonly end: number; readonly messageId: string }
}

/** Why what is put lasts no longer than this tab. */
export type HistoryFault =
  /** The browser keeps nothing here: a private window, storage that is blocked or damaged. */
  | 'unavailable'
  /** Another tab, with an older version of this page, keeps this one out. It ends when that tab is closed. */
  | 'blocked'
  /** Another tab has a newer version of this page: this one has to be loaded anew. */
  | 'outdated'
  /** The browser gives no more room. It ends when something is removed. */
  | 'full'

/**
 * Where one user's conversations are kept. What is put is durable when the promise resolves, unless `fault` says
 * otherwise.
 */
export interface HistoryStore {
  /** Absent: all is well. A change is told to subscribers, with an empty id. */
  readonly fault?: HistoryFault | undefined
  /** Pinned ones first, then the latest first. */
  heads(): Promise<readonly ConversationHead[]>
  /** One of {@link HistoryStore.heads}. */
  head(id: string): Promise<ConversationHead | undefined>
  /** A message that was kept as `streaming` comes back as `interrupted`. */
  get(id: string): Promise<Conversation | undefined>
  /**
   * Keeps it, in place of what was kept under its id. What is in a picture never changes under the picture's id.
   *
   * @throws {ConversationRemoved} when this tab had it before and it was removed since, here or in another tab
   * @throws {InvalidConversation} when it could not be read again
   */
  put(conversation: Conversation): Promise<void>
  /** Puts back what was removed, or brings in what comes from elsewhere. @throws {InvalidConversation} */
  restore(conversation: Conversation): Promise<void>
  /**
   * Gives it another title, or pins it, while its messages may be changing. Nothing happens when there is none of this
   * id. @throws {InvalidConversation}
   */
  amend(id: string, changes: Amendment): Promise<void>
  /** Removes it, and its draft. */
  remove(id: string): Promise<void>
  /** Removes everything, drafts included. */
  clear(): Promise<void>
  /**
   * Those in whose title and texts every word of `query` occurs, whatever its case and accents; the latest first, at
   * most `limit` (default 50).
   */
  search(query: string, limit?: number): Promise<readonly SearchHit[]>
  /** Everything, for export. */
  all(): Promise<readonly Conversation[]>
  /** What a person is writing, by conversation id; `new` for one that does not exist yet. */
  draft(id: string): Promise<Draft | undefined>
  putDraft(id: string, draft: Draft | undefined): Promise<void>
  /** Told of every change, in this tab and others, with the conversation's id. Returns how to stop. */
  subscribe(listener: (id: string) => void): () => void
  close(): void
}

/** What may be changed of a conversation beside its messages. */
export type Amendment = Partial<Pick<Conversation, 'title' | 'isTitled' | 'isPinned'>>

/** What a person is writing. */
export interface Draft {
  readonly text: string
  readonly images: readonly ImageAttachment[]
}

import type { Usage } from './usage.ts'

/** A piece of a streamed answer in the caller's format: bytes for the client, and facts for layers. */
export interface Part {
  readonly kind: 'part'
  /** JSON without framing and without line breaks. Empty: a part for the record only, which is not sent. */
  readonly data: Uint8Array
  /** `data` with its framing, as it was received: it need not be written anew. */
  readonly framed?: Uint8Array | undefined
  /** The `event:` field, in formats that name their events. */
  readonly event?: string | undefined
  /**
   * Has content, a tool call, visible reasoning, a refusal, audio or an end in any choice: the stream commits here.
   */
  readonly isMeaningful: boolean
  /** The upstream has begun to think, without content yet: it gets more time. */
  readonly isProgress?: true | undefined
  /** Has no place in the answer, such as a ping. */
  readonly isAside?: true | undefined
  /** New text of the first choice; may be empty. */
  readonly text: string
  /** Has content that a resumed stream cannot repeat: a tool call, reasoning, a refusal, audio, a second choice. */
  readonly isBeyondText: boolean
  /** The finish reason of a choice; of the last one if several finish. */
  readonly finishReason: string | undefined
  /** A choice that began in this part or before has not finished. */
  readonly hasOpenChoice: boolean
  readonly usage: Usage | undefined
}

/** Whether all that a part says is text of the first choice. */
export function isPlainText({ text, isBeyondText, finishReason }: Part): boolean {
  return text !== '' && !isBeyondText && finishReason === undefined
}

/** Facts of reasoning that the caller does not see: data for its maker. It does not commit a stream. */
export const hiddenThought = { isProgress: true, isBeyondText: true } as const

const noData = new Uint8Array()

/**
 * A part without content, but for these facts: for the record only, unless it has data. One literal, since copies of
 * objects cost a multiple of it.
 */
export function emptyPart(facts: Partial<Part>, data: Uint8Array = facts.data ?? noData, event = facts.event): Part {
  return {
    kind: 'part',
    data,
    framed: data === facts.data ? facts.framed : undefined,
    event,
    isMeaningful: facts.isMeaningful ?? false,
    isProgress: facts.isProgress,
    isAside: facts.isAside,
    text: facts.text ?? '',
    isBeyondText: facts.isBeyondText ?? false,
    finishReason: facts.finishReason,
    hasOpenChoice: facts.hasOpenChoice ?? false,
    usage: facts.usage,
  }
}

/** The formats that callers speak. Metrics and logs have their names as `api`. */
export type FormatName =
  | 'chat'
  | 'messages'
  | 'count_tokens'
  | 'embeddings'
  | 'responses'
  | 'input_tokens'
  | 'compact'
  | 'gemini'
  | 'gemini_count_tokens'
  | 'gemini_embed'
  | 'gemini_batch_embed'
  | RelayName

/** The formats of endpoints that are relayed (`relay/table.ts`). */
export type RelayName =
  | 'completions'
  | 'moderations'
  | 'rerank'
  | 'image_generations'
  | 'image_edits'
  | 'image_variations'
  | 'speech'
  | 'transcriptions'
  | 'translations'

/** Formats that some providers of a protocol speak themselves, and others do not: the configuration says which. */
export const furtherFormats = ['responses'] as const
export type FurtherFormat = (typeof furtherFormats)[number]

/** A member of the request's top-level object, by its offsets in the body. Ends are exclusive. */
export interface Member {
  /** Decoded; empty when it takes more than 1,024 bytes. */
  readonly name: string
  /** Offset of the name's opening quote. */
  readonly start: number
  readonly valueStart: number
  /** Offset after the value. */
  readonly end: number
}

/** A request that its format has checked in place. The caller's bytes pass through. */
export interface Ask {
  readonly format: FormatName
  /** The caller's bytes, complete. */
  readonly body: Uint8Array
  /** The model asked for. */
  readonly model: string
  /** The caller asked for a stream. */
  readonly stream: boolean
  /** Top-level members in the order of the body. */
  readonly members: readonly Member[]
  /** Names of its fields, and of parts of them, that only providers of the same format get. Absent: none. */
  readonly untranslated?: readonly string[]
  /**
   * It has reasoning of earlier answers. `foreign`: providers of the same format are not sent all of it. Absent: it has
   * none, or the format does not look for it.
   */
  readonly hasReasoning?: 'own' | 'foreign' | undefined
  /** Headers of the caller, in lower case, that go to providers of the same format. Never credentials. */
  readonly headers?: Readonly<Record<string, string>>
}

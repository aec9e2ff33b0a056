import type { Usage } from './usage.ts'

/** One chunk of a stream: JSON as the client will get it, and what the gateway needs to know of it. */
export interface ChatChunk {
  /** The JSON text, without framing; no line break in it. */
  readonly data: Uint8Array
  /** Carries content, a tool call, reasoning, a refusal, audio or a finish_reason in any choice: the stream commits here. */
  readonly isMeaningful: boolean
  /** `delta.content` of choice 0; empty when there is none. */
  readonly text: string
  /** Carries something that a resumed stream could not repeat: a tool call, reasoning, a refusal, audio, a second choice. */
  readonly isBeyondText: boolean
  /** `finish_reason` of choice 0 (of the last choice that has one), when it is set. */
  readonly finishReason: string | undefined
  readonly usage: Usage | undefined
}

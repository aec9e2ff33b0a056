/** One server-sent event. */
export interface ServerSentEvent {
  /** The `event:` field; empty when there is none. */
  readonly event: string
  /** The `data:` lines, joined with LF. */
  readonly data: Uint8Array
}

/** A member of the request's top-level object and where it stands in the bytes. Ends are exclusive. */
export interface Member {
  readonly name: string
  /** Offset of the name's opening quote. */
  readonly start: number
  readonly valueStart: number
  /** Offset after the value. */
  readonly end: number
}

/** A request that was checked (service.md 2.1, 2.2). The caller's bytes travel on; only what the gateway needs is read out of them. */
export interface ChatRequest {
  /** The caller's bytes, complete. */
  readonly body: Uint8Array
  /** What the caller asked for. */
  readonly model: string
  readonly stream: boolean
  /** `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** Top-level members in the order they stand in the bytes. */
  readonly members: readonly Member[]
}

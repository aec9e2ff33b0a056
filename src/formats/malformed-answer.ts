/**
 * A 200 answer, or an event of a stream, does not have its format (failover.md rows 23–26, 34). The message is safe to
 * show: it does not quote the answer.
 */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
  /**
   * `malformed`: not JSON, not UTF-8, or of the wrong shape. `no_choices`: well formed but without choices. `empty`:
   * without bytes. `unasked`: well formed, but not what the request asks for, which the model cannot do.
   */
  readonly reason: 'malformed' | 'no_choices' | 'empty' | 'unasked'

  constructor(reason: MalformedAnswer['reason'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

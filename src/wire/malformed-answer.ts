/**
 * A 200 answer, or an event of a stream, is not what the format says (failover.md rows 23–26, 34). The message is safe
 * to show: it quotes nothing of the answer.
 */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
  /**
   * `malformed`: not JSON, not UTF-8, or of the wrong shape. `no_choices`: well formed but without choices. `empty`:
   * nothing at all.
   */
  readonly reason: 'malformed' | 'no_choices' | 'empty'

  constructor(reason: MalformedAnswer['reason'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

/** An upstream's answer, or one event of it, is not what the format says. The message is safe to show. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer'
  /** `malformed`: not JSON, not UTF-8, or of the wrong shape. `no_choices`: well formed but without choices. `empty`: nothing at all. */
  readonly reason: 'malformed' | 'no_choices' | 'empty'
  constructor(reason: 'malformed' | 'no_choices' | 'empty', message: string) {
    super(message)
    this.reason = reason
  }
}

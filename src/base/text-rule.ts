/** A rule for text in configuration files. */
export interface TextRule {
  /** Completes "allowed: …". */
  readonly allowed: string
  readonly pattern: RegExp
  /** UTF-16 units. */
  readonly lengthMax: number
}

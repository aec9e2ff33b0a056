import { invalidRequest } from './error.ts'

/**
 * The names of members that a check reads. Programs read JSON in different ways: those in Go and .NET take a member
 * whose name differs in case, and the last of several. So that all read the same request, other spellings of a checked
 * name and repeats are refused (docs/api.md). Names that are not checked are never refused.
 */
export class CheckedNames {
  /** Names as they are written → what they name. */
  readonly #keys: ReadonlyMap<string, string>
  /** Folded names → the first name that folds to it. */
  readonly #folded: ReadonlyMap<string, string>
  readonly #keyOf: (name: string) => string

  /** @param hasTwoSpellings `max_tokens` and `maxTokens` name the same, as at Google */
  constructor(names: readonly string[], hasTwoSpellings = false) {
    this.#keyOf = hasTwoSpellings ? (name) => fold(name).replaceAll('_', '') : fold
    this.#keys = new Map(names.map((name) => [name, this.#keyOf(name)]))
    this.#folded = new Map(names.toReversed().map((name) => [this.#keyOf(name), name]))
  }

  /**
   * Checks the name of the next member of an object.
   *
   * @param name decoded
   * @param seen what the members before it name
   * @param within the path of the object, such as `generationConfig.`
   * @throws {WireError} 400 for another spelling, and for a repeat
   */
  add(name: string, seen: Set<string>, within = ''): void {
    const key = this.#keys.get(name)
    if (key === undefined) return this.refuseOther(name, `${within}${name}`, within)
    if (seen.has(key)) throw repeated(`${within}${name}`)
    seen.add(key)
  }

  /**
   * Checks a name that is no checked one.
   *
   * @param shown as it was sent
   * @throws {WireError} 400 if programs take it for a checked one
   */
  refuseOther(name: string, shown: string, within = ''): void {
    const meant = this.#folded.get(this.#keyOf(name))
    if (meant === undefined) return
    const param = `${within}${meant}`
    throw invalidRequest(
      'invalid_value',
      `'${shown}' is another spelling of '${param}', which some programs take for it: send '${param}', once.`,
      param,
    )
  }
}

function repeated(param: string): Error {
  return invalidRequest(
    'invalid_value',
    `The request has more than one '${param}', of which programs take different ones: send it once.`,
    param,
  )
}

/** Simple case folding of Unicode, as far as it leads to ASCII: U+017F and U+212A fold to `s` and `k`. */
function fold(name: string): string {
  return name.replaceAll(/[A-Z\u017f\u212a]/g, (letter) => letters[letter] ?? letter.toLowerCase())
}

const letters: Readonly<Record<string, string>> = { '\u017f': 's', '\u212a': 'k' }

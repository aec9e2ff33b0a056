/** Refusals of the key that start a cool-down. */
const refusalsMin = 3

/**
 * Refusals of a provider's key by a status alone, since its last success. They may concern one request or one model: a
 * second model, a second caller or the list of models has to confirm them.
 */
export class KeyDoubts {
  #refusals = 0
  #model: string | undefined
  #callerId: string | undefined
  #isConfirmed = false

  /** Takes a refusal. @returns whether the whole provider is to rest */
  confirm(model: string, callerId: string): boolean {
    this.#refusals += 1
    this.#isConfirmed ||= model !== (this.#model ??= model) || callerId !== (this.#callerId ??= callerId)
    return this.#isConfirmed && this.#refusals >= refusalsMin
  }

  /** The list of models was refused too. */
  confirmByList(): void {
    this.#isConfirmed = true
  }

  /** The provider accepts the key. */
  clear(): void {
    if (this.#refusals === 0 && !this.#isConfirmed) return
    this.#refusals = 0
    this.#isConfirmed = false
    this.#model = this.#callerId = undefined
  }
}

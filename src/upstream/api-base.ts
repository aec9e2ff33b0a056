import type { Endpoint, Protocol } from '../protocols/protocol.ts'

/**
 * Where the API of an upstream is: at its base URL, or below `/v1` of it, which owners leave out. It is looked for
 * once, after an answer without any API, and never once the API has answered.
 */
export class ApiBase {
  #endpoint: Endpoint
  /** The other place, while it may be there. */
  #other: Endpoint | undefined
  #finding: Promise<void> | undefined

  constructor(endpoint: Endpoint, { models }: Pick<Protocol, 'models'>) {
    this.#endpoint = endpoint
    // Some protocols add the version themselves.
    const isVersioned = /\/v\d/.test(models.page(endpoint))
    if (!isVersioned) this.#other = { ...endpoint, baseUrl: `${endpoint.baseUrl.replace(/\/+$/, '')}/v1` }
  }

  get endpoint(): Endpoint {
    return this.#endpoint
  }

  /** The API has answered where it is asked. */
  settle(): void {
    this.#other = undefined
  }

  /** Looks for the API at the other place, once for all requests. @param isThere undefined: there was no answer */
  async find(isThere: (other: Endpoint) => Promise<boolean | undefined>): Promise<void> {
    const other = this.#other
    if (other === undefined) return
    this.#finding ??= this.#look(other, isThere)
    await this.#finding
  }

  async #look(other: Endpoint, isThere: (other: Endpoint) => Promise<boolean | undefined>): Promise<void> {
    const found = await isThere(other)
    this.#finding = undefined
    if (found === undefined || this.#other === undefined) return
    if (found) this.#endpoint = other
    this.#other = undefined
  }
}

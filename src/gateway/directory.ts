import type { ListedModel, ListedOffer, OfferedModel } from '../formats/model.ts'
import type { ModelCandidate, Provider } from './provider.ts'

const findingsMax = 1_000

/** The candidates for a model. */
export interface ModelCandidates {
  readonly candidates: readonly ModelCandidate[]
  /** The candidates that serve the same model, by its name. */
  readonly sameModel: readonly ModelCandidate[]
  /** The model is on their lists. Otherwise the candidates are the providers whose models are not known. */
  readonly isListed: boolean
  /** Named as `provider-id/model`: no other provider is a candidate. */
  readonly isPinned: boolean
  /** The model's name in the spelling of the configuration or of a list; absent: neither contains it. */
  readonly listedAs?: string
  /** The name in the request, the model of an alias, and the names in lists. */
  readonly listedNames: readonly string[]
  /** All names of the model: {@link listedNames}, and those at providers. */
  readonly names: readonly string[]
}

/** The models of all providers. */
export interface Directory {
  /**
   * The candidates for a model name, in try-order; empty when no provider offers it. A top-level alias is followed.
   * Then match, in this order: exact names and aliases, names that differ in case only, `provider-id/model`, and the
   * providers whose models are not known.
   */
  find(name: string): ModelCandidates
  /** Every name once: models and their aliases in the order of providers, then top-level aliases of listed models. */
  list(): readonly ListedModel[]
  /** One model by the rules of `find`; only if a list has it. */
  get(name: string): ListedModel | undefined
}

interface Index {
  readonly versions: readonly number[]
  readonly exact: ReadonlyMap<string, readonly Offer[]>
  readonly folded: ReadonlyMap<string, readonly Offer[]>
  readonly found: Map<string, ModelCandidates>
}

interface Offer {
  readonly provider: Provider
  readonly model: OfferedModel
}

/** Creates a directory of these providers. It follows changes of their model lists. */
export function directory(providers: readonly Provider[], aliases: Readonly<Record<string, string>>): Directory {
  return new ModelDirectory(providers, aliases)
}

class ModelDirectory implements Directory {
  readonly #providers: readonly Provider[]
  readonly #aliasOf: Map<string, string>
  #index: Index

  constructor(providers: readonly Provider[], aliases: Readonly<Record<string, string>>) {
    this.#providers = providers
    this.#aliasOf = new Map(Object.entries(aliases))
    this.#index = buildIndex(providers)
  }

  find(asked: string): ModelCandidates {
    const at = this.#current()
    const known = at.found.get(asked)
    if (known !== undefined) return known
    const name = this.#listedAs(at, asked)
    const finding = {
      ...this.#search(at, this.#resolve(asked)),
      ...this.#namesFor(at, asked),
      ...(name === undefined ? {} : { listedAs: name }),
    }
    if (at.found.size >= findingsMax) at.found.clear()
    at.found.set(asked, finding)
    return finding
  }

  list(): ListedModel[] {
    const at = this.#current()
    const names = new Set([...at.exact.keys(), ...this.#aliasOf.keys()])
    return [...names].flatMap((name) => listed(name, this.#offersOf(at, this.#resolve(name))))
  }

  get(asked: string): ListedModel | undefined {
    const name = this.#resolve(asked)
    return listed(asked, this.#offersOf(this.#current(), name))[0]
  }

  #current(): Index {
    if (this.#providers.some((provider, position) => provider.models.version !== this.#index.versions[position]))
      this.#index = buildIndex(this.#providers)
    return this.#index
  }

  #resolve(name: string): string {
    let resolved = name
    for (let hops = 0; hops <= this.#aliasOf.size; hops += 1) {
      const target = this.#aliasOf.get(resolved)
      if (target === undefined) break
      resolved = target
    }
    return resolved
  }

  #offersOf(at: Index, name: string): readonly Offer[] {
    return named(at, name) ?? this.#pinned(name)
  }

  #pinned(name: string): readonly Offer[] {
    const slash = name.indexOf('/')
    const provider = slash < 1 ? undefined : this.#providers.find(({ id }) => id === name.slice(0, slash))
    const wanted = name.slice(slash + 1)
    if (provider === undefined || wanted === '') return []
    const models = provider.models.current()
    if (models === undefined) return [{ provider, model: unlisted(wanted) }]
    const model =
      models.find((offered) => namesOf(offered).includes(wanted)) ??
      models.find((offered) => namesOf(offered).some((each) => each.toLowerCase() === wanted.toLowerCase()))
    return model === undefined ? [] : [{ provider, model }]
  }

  #listedAs(at: Index, asked: string): string | undefined {
    if (this.#aliasOf.has(asked) || at.exact.has(asked)) return asked
    const [first] = at.folded.get(asked.toLowerCase()) ?? []
    if (first !== undefined) return spelling(first.model, asked)
    const [only] = this.#pinned(asked)
    if (only?.provider.models.current() === undefined) return undefined
    return `${only.provider.id}/${spelling(only.model, asked.slice(only.provider.id.length + 1))}`
  }

  #search(at: Index, name: string): Omit<ModelCandidates, 'listedAs' | 'listedNames' | 'names'> {
    const offers = this.#offersOf(at, name)
    if (offers.length > 0) {
      return {
        candidates: offers.map(candidateOf),
        sameModel: ofSameModel(offers, name).map(candidateOf),
        isListed: true,
        isPinned: named(at, name) === undefined,
      }
    }
    const unknown = this.#providers.filter((provider) => provider.models.current() === undefined)
    const candidates = unknown.map((provider) => provider.candidate(name))
    return { candidates, sameModel: candidates, isListed: false, isPinned: false }
  }

  #namesFor(at: Index, asked: string): Pick<ModelCandidates, 'listedNames' | 'names'> {
    const name = this.#resolve(asked)
    const offers = this.#offersOf(at, name)
    const listedNames = [...new Set([asked, name, ...offers.map(({ model }) => model.name)])]
    return { listedNames, names: [...new Set([...listedNames, ...offers.map(({ model }) => model.upstream)])] }
  }
}

function candidateOf({ provider, model }: Offer): ModelCandidate {
  return provider.candidate(model.upstream)
}

/**
 * The offers of the model of that name, else of the model of the first offer. An alias of another model counts only if
 * `embeddingAliases` has it.
 */
function ofSameModel(offers: readonly Offer[], asked: string): readonly Offer[] {
  const name = asked.toLowerCase()
  const isNamed = (one: string) => (offer: Offer) => offer.model.name.toLowerCase() === one
  const reference = offers.some(isNamed(name)) ? name : (offers[0]?.model.name.toLowerCase() ?? name)
  return offers.filter(
    (offer) =>
      isNamed(reference)(offer) || offer.model.embeddingAliases?.some((alias) => alias.toLowerCase() === name) === true,
  )
}

function named({ exact, folded }: Pick<Index, 'exact' | 'folded'>, name: string): readonly Offer[] | undefined {
  return exact.get(name) ?? folded.get(name.toLowerCase())
}

function listed(name: string, offers: readonly Offer[]): readonly ListedModel[] {
  const [first, ...others] = offers.map(({ provider, model }): ListedOffer => ({ provider: provider.id, model }))
  return first === undefined ? [] : [{ name, offers: [first, ...others] }]
}

function buildIndex(providers: readonly Provider[]): Index {
  const exact = new Map<string, Offer[]>()
  const folded = new Map<string, Offer[]>()
  const versions = providers.map((provider) => provider.models.version)
  for (const provider of providers) {
    for (const model of provider.models.current() ?? []) {
      for (const name of namesOf(model)) {
        add(exact, name, { provider, model })
        add(folded, name.toLowerCase(), { provider, model })
      }
    }
  }
  return { versions, exact, folded, found: new Map() }
}

/** The name or alias of a model that equals the asked one, apart from case. */
function spelling(model: OfferedModel, asked: string): string {
  const names = namesOf(model)
  return (
    names.find((name) => name === asked) ??
    names.find((name) => name.toLowerCase() === asked.toLowerCase()) ??
    model.name
  )
}

function namesOf(model: OfferedModel): readonly string[] {
  return [model.name, ...model.aliases]
}

/** Adds an offer unless the provider has one by that name. Offers of one provider must be added in a row. */
function add(offers: Map<string, Offer[]>, name: string, offer: Offer): void {
  const known = offers.get(name)
  if (known === undefined) offers.set(name, [offer])
  else if (known.at(-1)?.provider !== offer.provider) known.push(offer)
}

function unlisted(name: string): OfferedModel {
  return { name, upstream: name, aliases: [] }
}

import type { ChatCandidate, OfferedModel, Provider } from './provider.ts'

const remembered = 1_000

/** One model and who serves it, in try-order. */
export interface ListedModel {
  readonly name: string
  readonly offers: readonly [ListedOffer, ...ListedOffer[]]
}

/** A model as one provider describes it. */
export interface ListedOffer {
  /** Id of the provider. */
  readonly provider: string
  readonly model: OfferedModel
}

/** Who can be asked for a model. */
export interface Finding {
  readonly candidates: readonly ChatCandidate[]
  /** They are known to offer it; else they are those whose models are not known, or nobody. */
  readonly isListed: boolean
  /** Named as `provider-id/model`: nobody else comes into question. */
  readonly isPinned: boolean
}

/** Who offers which model. */
export interface Directory {
  /**
   * The candidates for a model name, in try-order; none: nobody offers it. A top-level alias is followed; then an exact
   * name or alias counts, then one that differs in case only, then `provider-id/model`, then the providers whose models
   * are not known.
   */
  find(name: string): Finding
  /** Every model once, in the order of providers. */
  list(): readonly ListedModel[]
  /** One model by the rules of `find`, as far as it is listed. */
  get(name: string): ListedModel | undefined
}

interface Index {
  readonly versions: readonly number[]
  readonly exact: ReadonlyMap<string, readonly Offer[]>
  readonly folded: ReadonlyMap<string, readonly Offer[]>
  readonly found: Map<string, Finding>
}

interface Offer {
  readonly provider: Provider
  readonly model: OfferedModel
}

/** A directory of these providers; it follows their model lists as they change. */
export function directory(providers: readonly Provider[], aliases: Readonly<Record<string, string>>): Directory {
  const aliasOf = new Map(Object.entries(aliases))
  let index = buildIndex(providers)

  function current(): Index {
    if (providers.some((provider, position) => provider.models.version !== index.versions[position]))
      index = buildIndex(providers)
    return index
  }

  function resolve(name: string): string {
    let resolved = name
    for (let hops = 0; hops <= aliasOf.size; hops += 1) {
      const target = aliasOf.get(resolved)
      if (target === undefined) break
      resolved = target
    }
    return resolved
  }

  function offersOf(at: Index, name: string): readonly Offer[] {
    return named(at, name) ?? pinned(name)
  }

  function pinned(name: string): readonly Offer[] {
    const slash = name.indexOf('/')
    const provider = slash < 1 ? undefined : providers.find(({ id }) => id === name.slice(0, slash))
    const wanted = name.slice(slash + 1)
    if (provider === undefined || wanted === '') return []
    const models = provider.models.current()
    if (models === undefined) return [{ provider, model: unlisted(wanted) }]
    const model =
      models.find((offered) => namesOf(offered).includes(wanted)) ??
      models.find((offered) => namesOf(offered).some((each) => each.toLowerCase() === wanted.toLowerCase()))
    return model === undefined ? [] : [{ provider, model }]
  }

  function search(at: Index, name: string): Finding {
    const offers = offersOf(at, name)
    if (offers.length > 0) {
      return {
        candidates: offers.map(({ provider, model }) => provider.candidate(model.upstream)),
        isListed: true,
        isPinned: named(at, name) === undefined,
      }
    }
    const unknown = providers.filter((provider) => provider.models.current() === undefined)
    return { candidates: unknown.map((provider) => provider.candidate(name)), isListed: false, isPinned: false }
  }

  return {
    find(asked) {
      const at = current()
      const known = at.found.get(asked)
      if (known !== undefined) return known
      const finding = search(at, resolve(asked))
      if (at.found.size >= remembered) at.found.clear()
      at.found.set(asked, finding)
      return finding
    },
    list: () => [...current().exact].flatMap(([name, offers]) => listed(name, offers)),
    get(asked) {
      const name = resolve(asked)
      return listed(asked, offersOf(current(), name))[0]
    },
  }
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

function namesOf(model: OfferedModel): readonly string[] {
  return [model.name, ...model.aliases]
}

/** Adds an offer unless the provider, whose offers come one after the other, has already made one by that name. */
function add(offers: Map<string, Offer[]>, name: string, offer: Offer): void {
  const known = offers.get(name)
  if (known === undefined) offers.set(name, [offer])
  else if (known.at(-1)?.provider !== offer.provider) known.push(offer)
}

function unlisted(name: string): OfferedModel {
  return { name, upstream: name, aliases: [] }
}

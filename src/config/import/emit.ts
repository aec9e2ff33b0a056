import type { JsonObject } from '../../base/json-value.ts'
import { findBrand } from '../catalogue.ts'
import { parseAccess } from '../file/parse-access.ts'
import { parseConfig } from '../file/parse-config.ts'
import { arrange, type ArrangedEntry } from './arrange.ts'
import type { Plan, PlannedAccount, PlannedKey, PlannedModel } from './plan.ts'
import { freeId } from './planner.ts'
import { present } from './present.ts'

/** The files of an import. */
export interface Emitted {
  /** The text of providers.json. */
  readonly providers: string
  /** The text of access.json. Absent: the source has no limits. */
  readonly access?: string
  /** Keys that stood in the source, by their variables. */
  readonly keys: ReadonlyMap<string, string>
  /** All variables of the files. */
  readonly variables: readonly string[]
  /** Ids of accounts that are there several times, in the order of names. */
  readonly split: readonly string[]
  /** The place of a part of the plan in the files. */
  readonly placeOf: (part: object) => string | undefined
}

/** Writes the files of a plan. @param from the name of the source @throws {ConfigError} if they would be invalid */
export function emit(plan: Plan, from: string): Emitted {
  const entries = arrange(plan)
  const names = new KeyNames()
  const ids = new Set<string>()
  const places = new Map<object, string>()
  const idsOf = new Map<PlannedAccount, string[]>()
  // Callers name the ids of accounts with open lists, as in `openai/gpt-4o`.
  const openIds = new Map(plan.open.map((account) => [account, freeId(account.id, ids)]))
  const providers = entries.map((entry, index) => {
    const { account, offers } = entry
    const id = (offers === undefined ? openIds.get(account) : undefined) ?? freeId(account.id, ids)
    idsOf.set(account, [...(idsOf.get(account) ?? []), id])
    const place = `providers[${index}]`
    if (!places.has(account)) places.set(account, place)
    return providerOf(entry, { id, place, places, names })
  })
  const config = {
    providers,
    ...(plan.aliases.size === 0 ? {} : { aliases: Object.fromEntries(plan.aliases) }),
    ...(plan.isNextOnPolicy ? { failover: { on_content_policy: 'next' } } : {}),
  }
  const head = `// Made by svc import from a configuration of ${from}. "svc check" asks each provider for one token.`
  const text = `${head}
${laidOut(config)}
`
  parseConfig(text, { file: 'providers.json', environment: {} })
  const access = accessOf(plan, idsOf)
  if (access !== undefined) parseAccess(access, 'access.json')
  return {
    providers: text,
    ...(access === undefined ? {} : { access }),
    keys: names.literals,
    variables: names.variables,
    split: [...idsOf.values()].filter((each) => each.length > 1).map((each) => each.join(' and ')),
    placeOf: (part) => (part === plan.aliases ? 'aliases' : part === plan.limits ? 'access.json' : places.get(part)),
  }
}

interface EntryOptions {
  readonly id: string
  readonly place: string
  readonly places: Map<object, string>
  readonly names: KeyNames
}

function providerOf({ account, offers }: ArrangedEntry, { id, place, places, names }: EntryOptions): JsonObject {
  const { brand, enabled, protocol, baseUrl, proxy, retries, overrides, defaults, maxConcurrent } = account
  const timeouts = { first_token_ms: account.firstTokenMs, attempt_ms: account.attemptMs }
  return present({
    id,
    brand: brand === id ? undefined : brand,
    enabled,
    protocol,
    base_url: baseUrl,
    api_key: names.of(account),
    proxy,
    headers: filled(account.headers),
    models: offers === undefined ? undefined : modelsOf(offers, place, places),
    timeouts: filled(present(timeouts)),
    retries,
    max_concurrent: maxConcurrent,
    overrides: filled(overrides),
    defaults: filled(defaults),
  })
}

function modelsOf(offers: ReadonlyMap<string, PlannedModel>, place: string, places: Map<object, string>): unknown {
  const namesOf = Map.groupBy(offers, ([, model]) => model)
  return Array.from(namesOf, ([model, pairs], index) => {
    const all = pairs.map(([name]) => name)
    const name = all.includes(model.name) ? model.name : (all[0] ?? model.name)
    const aliases = all.filter((each) => each !== name)
    if (!places.has(model)) places.set(model, `${place}.models[${index}]`)
    const facts = present({
      upstream: model.upstream === name ? undefined : model.upstream,
      aliases: aliases.length === 0 ? undefined : aliases,
      context: model.context,
      max_output: model.maxOutput,
      input: model.input,
      price: model.price,
    })
    return Object.keys(facts).length === 0 ? name : { name, ...facts }
  })
}

/** The variables of keys. Different keys never have the same one. */
class KeyNames {
  readonly literals = new Map<string, string>()
  readonly #variables = new Set<string>()

  /** The value of `api_key`; `undefined`: it is left out. */
  of({ key, brand, baseUrl, headers = {} }: PlannedAccount): string | undefined {
    for (const value of Object.values(headers)) if (/^\$\w+$/.test(value)) this.#variables.add(value.slice(1))
    if (baseUrl?.startsWith('$') === true) this.#variables.add(baseUrl.slice(1))
    if (key !== undefined) return `$${this.#nameOf(key)}`
    const [usual] = baseUrl === undefined ? (findBrand(brand ?? '')?.keys ?? []) : []
    if (usual !== undefined) this.#variables.add(usual)
    return undefined
  }

  #nameOf({ variable, literal }: PlannedKey): string {
    let name = variable
    const isTaken = () =>
      literal === undefined ? false : this.#variables.has(name) && this.literals.get(name) !== literal
    for (let number = 2; isTaken(); number += 1) name = `${variable}_${number}`
    this.#variables.add(name)
    if (literal !== undefined) this.literals.set(name, literal)
    return name
  }

  get variables(): readonly string[] {
    return [...this.#variables].toSorted()
  }
}

function accessOf({ limits }: Plan, idsOf: ReadonlyMap<PlannedAccount, readonly string[]>): string | undefined {
  const entries = limits.flatMap(({ subject, amounts }) => {
    const subjects = typeof subject === 'string' ? [subject] : (idsOf.get(subject) ?? []).map((id) => `provider:${id}`)
    return subjects.map((each) => ({ for: each, ...amounts }))
  })
  return entries.length === 0 ? undefined : `${laidOut({ limits: entries })}\n`
}

function filled<Value extends object>(value: Value | undefined): Value | undefined {
  return value === undefined || Object.keys(value).length === 0 ? undefined : value
}

const lineLengthMax = 100

/** JSON with short values on one line. */
function laidOut(value: unknown, indentation = ''): string {
  const line = oneLine(value)
  if (
    typeof value !== 'object' ||
    value === null ||
    (indentation !== '' && line.length + indentation.length <= lineLengthMax)
  )
    return line
  const inner = `${indentation}  `
  const parts = Array.isArray(value)
    ? value.map((item) => laidOut(item, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${laidOut(member, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indentation}${close}`
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

import { brands, findBrand } from '../catalogue.ts'
import { isSameOrigin } from '../file/resolve-provider.ts'
import { apiKeyRule, baseUrlRule, modelNameRule, trimUrl, variablePattern } from '../file/rules.ts'
import type { Plan, PlannedAccount, PlannedKey, PlannedLimit, PlannedModel } from './plan.ts'

/** An account as a reader finds it. */
export type FoundAccount = Partial<PlannedAccount> & Pick<PlannedAccount, 'id'>

/** Collects a plan. */
export class Planner implements Plan {
  readonly routes = new Map<string, PlannedModel[]>()
  readonly open: PlannedAccount[] = []
  readonly aliases = new Map<string, string>()
  isNextOnPolicy = false
  readonly limits: PlannedLimit[] = []
  readonly #accounts = new Map<string, PlannedAccount>()

  /** The account with these settings, the same object for the same ones. Its wished id is that of the first. */
  account(found: FoundAccount): PlannedAccount {
    const account = settled(found)
    const { id: _, key, ...settings } = account
    const same = JSON.stringify([settings, key?.variable, key?.literal])
    const known = this.#accounts.get(same)
    if (known !== undefined) return known
    this.#accounts.set(same, account)
    return account
  }

  /** Adds an account that offers all models of its list. */
  addOpen(account: PlannedAccount): void {
    if (!this.open.includes(account)) this.open.push(account)
  }

  /** Adds a model as the last step of its name, unless the name is there with the same model. */
  add(model: PlannedModel, name = model.name): void {
    const steps = this.routes.get(name) ?? []
    this.routes.set(name, steps)
    if (!steps.includes(model)) steps.push(model)
  }
}

/** An account with its brand, if its address is that of one, and without what the brand says itself. */
function settled(found: FoundAccount): PlannedAccount {
  const baseUrl =
    found.baseUrl === undefined || variablePattern.test(found.baseUrl) ? found.baseUrl : trimUrl(found.baseUrl)
  const brand = findBrand(found.brand ?? brandAt(baseUrl) ?? '')
  const isBrands =
    brand !== undefined && (baseUrl === undefined || baseUrl === brand.baseUrl || isBareRoot(baseUrl, brand.baseUrl))
  const protocol = found.protocol === (brand?.protocol ?? 'openai') ? undefined : found.protocol
  return {
    ...found,
    id: idOf(brand?.id ?? found.id, brand === undefined),
    brand: brand?.id,
    protocol,
    baseUrl: isBrands ? undefined : baseUrl,
  }
}

/** A brand's host without a path, to which other gateways add the version. */
function isBareRoot(baseUrl: string, brandUrl: string): boolean {
  return isSameOrigin(baseUrl, brandUrl) && new URL(baseUrl).pathname === '/'
}

function brandAt(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined) return undefined
  return brands.find(
    (brand) => brand.port === undefined && brand.baseUrl !== '' && isSameOrigin(baseUrl, brand.baseUrl),
  )?.id
}

/** A text as an id of providers. Without a brand it is none of a brand. */
function idOf(text: string, isOwn: boolean): string {
  const id =
    text
      .toLowerCase()
      .replaceAll(/[^a-z0-9_-]+/g, '-')
      .replaceAll(/^[-_]+|[-_]+$/g, '')
      .slice(0, 56) || 'provider'
  return isOwn && findBrand(id) !== undefined ? `${id}-server` : id
}

/** A free id, such as `groq-2`. It is taken. */
export function freeId(wished: string, taken: Set<string>): string {
  let id = wished
  for (let number = 2; taken.has(id); number += 1) id = `${wished}-${number}`
  taken.add(id)
  return id
}

/** The name of a host as an id: `https://api.example.com/v1` → `example-com`. */
export function hostId(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return 'server'
  const { hostname, port } = new URL(baseUrl)
  const name = hostname.replace(/^(?:api|www)\./, '').replaceAll(/[^a-z0-9]+/g, '-')
  return port === '' ? name : `${name}-${port}`
}

/** A base URL as svc has it: without the endpoint. Undefined: it is none. */
export function baseUrlOf(text: string | undefined): string | undefined {
  const base = text?.replace(/\/+$/, '').replace(/\/(?:chat\/completions|completions|responses|messages)$/, '')
  if (base === undefined || base.length > baseUrlRule.lengthMax || !baseUrlRule.pattern.test(base)) return undefined
  return variablePattern.test(base) || URL.canParse(base) ? base : undefined
}

export function isModelName(text: string | undefined): text is string {
  return text !== undefined && text.length <= modelNameRule.lengthMax && modelNameRule.pattern.test(text)
}

/** Texts that stand where a server needs no key. */
const placeholderWords = 'none|null|empty|dummy|fake|fake-key|ollama|sk-no-key-required|lm-studio|local|anything'
const placeholders = new RegExp(`^(?:|${placeholderWords}|no-?key|not-?needed|not-?required|x+)$`, 'i')

/** Whether a text stands where a server needs no key. */
export function isPlaceholder(text: string): boolean {
  return placeholders.test(text)
}

/** A key that stands in the file. Undefined: it is none. @param variable the name of its variable */
export function literalKey(text: string | undefined, variable: string): PlannedKey | undefined {
  if (text === undefined || isPlaceholder(text)) return undefined
  // Another text could not be sent, and must not add lines to keys.env.
  const isSound = text.length <= apiKeyRule.lengthMax && apiKeyRule.pattern.test(text) && !text.startsWith('$')
  return isSound ? { variable, literal: text } : { variable }
}

/** The variable for a key of this account: that of its brand, else one after its id. */
export function variableOf({ brand, id }: FoundAccount): string {
  return (
    findBrand(brand ?? '')?.keys[0] ??
    `${id
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, 'KEY_')}_API_KEY`
  )
}

import { encode } from '../../bytes/text.ts'
import type { Config, ProviderConfig } from '../../config/config.ts'
import { parseChatRequest } from '../../formats/chat/request.ts'
import type { OfferedModel } from '../../formats/model.ts'
import type { PriceBook } from '../../prices/price-book.ts'
import { unlimitedAnswerBudget } from '../../service/answer-budget.ts'
import { healthBook } from '../../service/health/health.ts'
import { assembleGateway, type AssembledGateway } from '../assemble.ts'
import { drillTransport, type DrillFailure } from './drill-transport.ts'
import { serverFacts, lostBetween, type ServerFacts } from './lost.ts'

/*
 * `svc drill`: what would happen if a provider failed. The gateway of the service is put together over a transport
 * that answers by itself (`drill-transport.ts`), so failover, layers, resume and translation are the real ones, and
 * nothing is sent. For each name, every provider of its chain fails in turn, in each way; with it fail the entries at
 * the same host or with the same key, as they would. `lost.ts` compares the provider that serves then with the usual
 * one.
 */

/** What happens to a name when providers fail. */
export interface DrillRow {
  /** The providers that fail, the named one first. Empty: none. */
  readonly failing: readonly string[]
  readonly failure: DrillFailure | undefined
  /** The provider that answers; `undefined`: none. */
  readonly servedBy: string | undefined
  /** How long a caller may wait before its turn, in milliseconds. */
  readonly waitMs: number
  /** What is lost against the usual answer, in words. */
  readonly lost: readonly string[]
}

/** The drill of one name. */
export interface ModelDrill {
  readonly model: string
  /** Its providers in order: id and name of the model there. */
  readonly chain: readonly ServerFacts[]
  readonly rows: readonly DrillRow[]
  /** What is no spare, in words. */
  readonly notes: readonly string[]
  /** It is served whichever provider of the chain fails. */
  readonly survives: boolean
}

export interface DrillOptions {
  readonly config: Config
  /** Lists of models of providers with `"*"`, as far as they are known. */
  readonly lists: ReadonlyMap<string, readonly OfferedModel[]>
  readonly prices: PriceBook
  /** The providers that do not serve this name already, as a live question has shown. */
  readonly down: (model: string) => ReadonlySet<string>
  readonly failures: readonly DrillFailure[]
  /** Providers that fail together. Empty: each in its turn. */
  readonly together: readonly string[]
  /** 2: pairs, too. */
  readonly depth: number
}

const quiet = { debug: () => undefined, warn: () => undefined }

/** Drills these names. */
export async function drill(models: readonly string[], options: DrillOptions): Promise<readonly ModelDrill[]> {
  const config = frozen(options)
  const drilled: ModelDrill[] = []
  for (const model of models) drilled.push(await drillModel(model, { ...options, config }))
  return drilled
}

/** The configuration with the lists that are known, and without repeats, which take time and change nothing. */
function frozen({ config, lists }: DrillOptions): Config {
  const providers = config.providers.map((provider): ProviderConfig => {
    const list = provider.models === '*' ? lists.get(provider.id) : undefined
    return { ...provider, retries: 0, ...(list === undefined ? {} : { models: list }) }
  })
  return { ...config, providers }
}

async function drillModel(model: string, options: DrillOptions): Promise<ModelDrill> {
  const { config, together, failures, depth } = options
  const chain = chainOf(model, options)
  const outcome = (failing: readonly string[], failure: DrillFailure | undefined) =>
    rowOf(model, { failing, failure, chain }, options)
  const usual = await outcome([], undefined)
  const rows: DrillRow[] = [usual]
  const names = together.length > 0 ? [together] : chain.map(({ provider }) => [provider])
  for (const named of names)
    for (const failure of failures) rows.push(await outcome(withCompanions(named, failure, config), failure))
  if (depth > 1 && together.length === 0)
    for (const [index, { provider: one }] of chain.entries())
      for (const { provider: other } of chain.slice(index + 1))
        rows.push(await outcome(withCompanions([one, other], 'timeout', config), 'timeout'))
  const single = rows.slice(0, 1 + names.length * failures.length)
  return {
    ...{ model, chain, rows },
    notes: notesOf(model, chain, options),
    survives: chain.length > 0 && single.every(({ servedBy }) => servedBy !== undefined),
  }
}

/** The facts of the providers of a name, in their order. */
function chainOf(model: string, options: DrillOptions): readonly ServerFacts[] {
  const gateway = gatewayWith(options, () => undefined)
  try {
    const offers = gateway.model(model)?.offers ?? []
    return offers.map((offer) => serverFacts(offer, options.config, gateway.costAt(model, offer.provider)))
  } finally {
    gateway.close()
  }
}

function gatewayWith(
  { config, prices }: DrillOptions,
  failureOf: (provider: string) => DrillFailure | undefined,
): AssembledGateway {
  return assembleGateway(config, {
    transport: drillTransport(failureOf),
    prices,
    health: healthBook(() => performance.now()),
    answerBudget: unlimitedAnswerBudget,
    log: quiet,
  })
}

interface Scenario {
  readonly failing: readonly string[]
  readonly failure: DrillFailure | undefined
  readonly chain: readonly ServerFacts[]
}

async function rowOf(model: string, { failing, failure, chain }: Scenario, options: DrillOptions): Promise<DrillRow> {
  const down = options.down(model)
  const asked = await serve(model, options, (id) =>
    failing.includes(id) ? failure : down.has(id) ? 'credential' : undefined,
  )
  const before = chain.slice(
    0,
    chain.findIndex(({ provider }) => provider === asked),
  )
  const waiting = (asked === undefined ? chain : before).filter(({ provider }) => failing.includes(provider))
  const waitMs = failure === 'timeout' ? waiting.reduce((sum, { waitMs: each }) => sum + each, 0) : 0
  // A request ends at its deadline, whoever is left.
  const isLate = asked !== undefined && waitMs >= options.config.limits.deadlineMs
  const server = chain.find(({ provider }) => provider === asked)
  const usual = chain.find(({ provider }) => !down.has(provider))
  return {
    ...{ failing, failure, waitMs },
    servedBy: isLate ? undefined : asked,
    lost: isLate
      ? [`the request ends at its deadline of ${options.config.limits.deadlineMs} ms before ${asked} is asked`]
      : server === undefined || usual === undefined
        ? []
        : lostBetween(usual, server),
  }
}

/** Asks for a short stream and reads it. @returns the provider that ended it; `undefined`: none did */
async function serve(
  model: string,
  options: DrillOptions,
  failureOf: (provider: string) => DrillFailure | undefined,
): Promise<string | undefined> {
  const gateway = gatewayWith(options, failureOf)
  const body = encode(
    JSON.stringify({ model, messages: [{ role: 'user', content: 'one two three four' }], stream: true }),
  )
  try {
    const served = await gateway.answer(parseChatRequest(body), { signal: new AbortController().signal, trail: [] })
    if (served.reply.kind === 'stream')
      for (let parts = await served.reply.read(); parts !== undefined;) parts = await served.reply.read()
    return served.provider
  } catch {
    // No provider is left; the trail is not shown.
    return undefined
  } finally {
    gateway.close()
  }
}

/** The entries that fail with these: those at the same host, or of the same account there. */
function withCompanions(named: readonly string[], failure: DrillFailure, { providers }: Config): readonly string[] {
  const failing = providers.filter(({ id }) => named.includes(id))
  const others = providers.filter(
    (each) =>
      !named.includes(each.id) &&
      failing.some((one) =>
        failure === 'timeout' ? isSameHost(one, each) : failure !== 'cut' && isSameAccount(one, each),
      ),
  )
  return [...named, ...others.map(({ id }) => id)]
}

function isSameHost(one: ProviderConfig, other: ProviderConfig): boolean {
  return originOf(one) !== undefined && originOf(one) === originOf(other)
}

function isSameAccount(one: ProviderConfig, other: ProviderConfig): boolean {
  return isSameHost(one, other) && one.apiKey === other.apiKey
}

function originOf({ baseUrl }: ProviderConfig): string | undefined {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined
}

function notesOf(model: string, chain: readonly ServerFacts[], { config, down }: DrillOptions): readonly string[] {
  const entries = chain.flatMap(({ provider }) => config.providers.find(({ id }) => id === provider) ?? [])
  const shared = entries.flatMap((one, index) =>
    entries
      .slice(index + 1)
      .flatMap((other) => sharedBy(one, other).map((text) => `${one.id} and ${other.id} ${text}`)),
  )
  const silent = chain
    .filter(({ provider }) => down(model).has(provider))
    .map(({ provider }) => `${provider} did not answer`)
  return [...shared, ...config.providers.flatMap((provider) => absence(model, provider)), ...silent]
}

/** What two entries have in common, so that they fail together. */
function sharedBy(one: ProviderConfig, other: ProviderConfig): readonly string[] {
  const isSameKey = one.apiKey !== undefined && one.apiKey === other.apiKey
  const isSameProxy = one.proxy?.hostname === other.proxy?.hostname && one.proxy?.port === other.proxy?.port
  return [
    ...(isSameAccount(one, other) ? ['have the same host and key: one is no spare of the other'] : []),
    ...(isSameHost(one, other) && one.apiKey !== other.apiKey ? ['have the same host'] : []),
    ...(isSameKey && !isSameHost(one, other) ? ['have the same key at different hosts'] : []),
    ...(one.proxy !== undefined && isSameProxy ? ['are reached through the same proxy'] : []),
  ]
}

/** Why a provider is not in the chain of a name. */
function absence(model: string, { id, enabled, unavailable, models }: ProviderConfig): readonly string[] {
  if (models === '*') return enabled && unavailable === undefined ? [`the models of ${id} are not known`] : []
  if (!models.some(({ name, aliases }) => name === model || aliases.includes(model))) return []
  if (!enabled) return [`${id} offers it, but is off`]
  return unavailable === undefined ? [] : [`${id} offers it, but is unavailable: ${unavailable}`]
}

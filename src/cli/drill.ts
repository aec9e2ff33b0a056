import type { DrillRow, ModelDrill } from '../app/drill/drill.ts'
import { booleanFlag, configFlag, integerFlag, repeatedFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext, Output } from '../base/command-line/command.ts'
import { formatDuration, harmless, paintFor } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import type { Config } from '../config/config.ts'
import type { OfferedModel } from '../formats/model.ts'
import { modelsListed } from '../gateway/models-listed.ts'
import type { Provider } from '../gateway/provider.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { jsonFlag } from './flags.ts'
import { gatewayAccess, pricesHere, type GatewayAccess, type OpenGateway } from './gateway-access.ts'
import { formatTable } from './terminal.ts'

const flags = {
  config: configFlag,
  fail: repeatedFlag('provider that fails; several fail together', 'PROVIDER', { otherwise: 'each in its turn' }),
  depth: integerFlag('2: pairs of providers, too', 'N', { minimum: 1, maximum: 2, fallback: 1 }),
  live: booleanFlag('ask each provider for one token before, and count those that fail as down'),
  offline: booleanFlag('send nothing, not even questions for lists of models'),
  json: jsonFlag,
}

type Context = CommandContext<typeof flags>

const askedAtOnce = 8
const liveMs = 30_000

/** `svc drill` (docs/commands.md). */
export function drillCommandWith(access: GatewayAccess): Command<typeof flags> {
  async function runDrill(context: Context): Promise<number> {
    const { flags, environment, positionals, stdout, signal } = context
    if (flags.live && flags.offline)
      throw new UsageError('--live asks providers, and --offline sends nothing: choose one')
    const config = await access.load(flags.config, context)
    for (const id of flags.fail)
      if (!config.providers.some((provider) => provider.id === id))
        throw new UsageError(`--fail ${harmless(id)}: no provider has this id`)
    const { lists, down } = await listsAndDown(config, access, context)
    if (signal.aborted) return 130
    const [{ drill }, { drillFailures }] = await Promise.all([
      import('../app/drill/drill.ts'),
      import('../app/drill/drill-transport.ts'),
    ])
    const drilled = await drill(positionals.length > 0 ? positionals : namesIn(config, lists), {
      ...{ config, lists, down, failures: drillFailures, together: flags.fail, depth: flags.depth },
      prices: await pricesHere(environment),
    })
    const survives = drilled.length > 0 && drilled.every((each) => each.survives)
    if (flags.json) stdout.write(`${JSON.stringify({ models: drilled, survives }, undefined, 2)}\n`)
    else print(drilled, stdout)
    return survives ? 0 : 1
  }

  return {
    name: 'drill',
    summary: 'show which provider would serve each model if another one failed',
    flags,
    arguments: { usage: '[MODEL…]', summary: 'names of models; default: those of the file', maximum: 1_000 },
    examples: [
      {
        command: 'svc drill',
        does: 'lets each provider fail in turn, by timeout, rate limit, refused key and cut stream',
      },
      {
        command: 'svc drill gpt-4o --live',
        does: 'asks the providers of a model for one token before, to find wrong keys',
      },
      { command: 'svc drill --fail groq --fail openai --offline', does: 'lets both fail at once, and sends nothing' },
    ],
    exitCodes: { 1: 'a model is not served when one provider fails', 130: 'stopped by Ctrl-C' },
    run: runDrill,
  }
}

/** `svc drill`. */
export const drillCommand = drillCommandWith(gatewayAccess)

/** A provider that does not answer: for one name, or for all. */
interface Silent {
  readonly provider: string
  readonly name: string | undefined
}

/** The lists of models that are known, and the providers that do not answer now. */
async function listsAndDown(
  config: Config,
  access: GatewayAccess,
  { flags, environment, signal, positionals }: Context,
) {
  const gateway = await access.open(config, environment, { isFresh: false, isOffline: flags.offline })
  try {
    await modelsListed(gateway.providers, signal)
    const lists = new Map(gateway.providers.flatMap(({ id, models }) => [[id, models.current() ?? []] as const]))
    for (const [id, list] of lists) if (list.length === 0) lists.delete(id)
    const silent = flags.live ? await silentProviders(gateway, positionals, signal) : []
    const down = (model: string): ReadonlySet<string> =>
      new Set(silent.flatMap(({ provider, name }) => (name === undefined || name === model ? [provider] : [])))
    return { lists, down }
  } finally {
    gateway.close()
  }
}

interface LiveQuestion {
  readonly provider: Provider
  readonly name: string | undefined
  readonly model: string | undefined
}

/** Asks providers for one token: for the named models, else for the first one of each. */
async function silentProviders(
  gateway: OpenGateway,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly Silent[]> {
  const { askProvider } = await import('../app/ask-provider.ts')
  const limit = AbortSignal.any([signal, AbortSignal.timeout(liveMs)])
  const waiting = gateway.providers
    .filter(({ models }) => models.current() !== undefined)
    .flatMap((provider): LiveQuestion[] => {
      if (names.length === 0) return [{ provider, name: undefined, model: undefined }]
      return names.flatMap((name) => {
        const offer = gateway.model(name)?.offers.find((each) => each.provider === provider.id)
        return offer === undefined ? [] : [{ provider, name, model: offer.model.name }]
      })
    })
  const silent: Silent[] = []
  async function askNext(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const { failure } = await askProvider(next.provider, limit, next.model, [{ max_tokens: 1 }])
      // A provider that refuses the limit is there, and takes the key.
      const isThere = failure === undefined || isRequestRefused(failure.error)
      if (!isThere) silent.push({ provider: next.provider.id, name: next.name })
    }
  }
  await Promise.all(Array.from({ length: askedAtOnce }, askNext))
  return silent
}

function isRequestRefused(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.failure === 'bad_request'
}

/** The names of the file, and those of lists that several providers have. */
function namesIn(
  { providers, aliases }: Config,
  lists: ReadonlyMap<string, readonly OfferedModel[]>,
): readonly string[] {
  const written = providers
    .flatMap(({ models }) => (models === '*' ? [] : models))
    .flatMap((model) => [model.name, ...model.aliases])
  const listed = providers.flatMap(({ id, models }) =>
    models === '*' ? (lists.get(id) ?? []).map(({ name }) => name) : [],
  )
  const counts = Map.groupBy([...listed, ...new Set(written)], (name) => name)
  const shared = listed.filter((name) => (counts.get(name)?.length ?? 0) > 1)
  return [...new Set([...written, ...shared, ...Object.keys(aliases)])]
}

function print(drilled: readonly ModelDrill[], stdout: Output): void {
  const columns = [
    { title: 'model' },
    { title: 'failing' },
    { title: 'served by' },
    { title: 'wait up to', align: 'right' },
    { title: 'lost', shrinks: true },
  ] as const
  // Models with the same providers have the same rows.
  const groups = Map.groupBy(drilled, ({ rows, notes }) => JSON.stringify([rows, notes]))
  const cells = [...groups.values()].flatMap((models) => {
    const [first] = models
    if (first === undefined) return []
    const name = models.length === 1 ? first.model : `${first.model} and ${models.length - 1} more`
    return merged(first.rows).map(({ failing, failures, servedBy, waitMs, lost }, index) => [
      index === 0 ? name : '',
      failing.length === 0 ? 'none' : `${failing.join(' + ')}: ${failures.join(', ')}`,
      servedBy === undefined ? { text: 'none', style: 'red' as const } : servedBy,
      waitMs === 0 ? '' : formatDuration(waitMs),
      lost.join('; '),
    ])
  })
  stdout.write(formatTable(columns, cells, paintFor(stdout), stdout.isTerminal ? stdout.columns : Infinity))
  const notes = new Set(
    drilled.flatMap(({ model, notes: own }) =>
      own.map((note) => (note.includes('offers it') ? `${model}: ${note}` : note)),
    ),
  )
  for (const note of notes) stdout.write(`${harmless(note)}\n`)
  const lone = drilled.filter(({ survives }) => !survives).length
  stdout.write(
    drilled.length === 0
      ? 'No model is known: name one, or give providers "models" in the file.\n'
      : lone === 0
        ? `All ${drilled.length} models are served whichever provider fails.\n`
        : `${lone} of ${drilled.length} models are not served when one provider fails.\n`,
  )
}

type MergedRow = Omit<DrillRow, 'failure'> & { readonly failures: readonly string[] }

/** Rows that differ in the kind of the failure alone, as one. */
function merged(rows: readonly DrillRow[]): readonly MergedRow[] {
  const same = Map.groupBy(rows, ({ failing, servedBy, lost }) => JSON.stringify([failing, servedBy, lost]))
  return [...same.values()].flatMap((all) => {
    const [first] = all
    if (first === undefined) return []
    const { failure: _, ...row } = first
    return [
      {
        ...row,
        waitMs: Math.max(...all.map(({ waitMs }) => waitMs)),
        failures: [...new Set(all.flatMap(({ failure }) => failure ?? []))],
      },
    ]
  })
}

import type { ProbeResult } from '../app/assemble.ts'
import { sourceLine } from '../app/start-lines.ts'
import { textFlag, configFlag, runningUrlFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext, Output } from '../base/command-line/command.ts'
import { member } from '../base/command-line/running-service.ts'
import { formatDuration, harmless, paintFor } from '../base/shown-text.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { OfferedModel } from '../formats/model.ts'
import { modelsListed } from '../gateway/models-listed.ts'
import type { Provider } from '../gateway/provider.ts'
import { jsonFlag } from './flags.ts'
import { gatewayAccess, type GatewayAccess } from './gateway-access.ts'
import { answerIfRunning } from './running-service.ts'
import { formatTable, type Cell } from './terminal.ts'

const flags = {
  config: configFlag,
  json: jsonFlag,
  url: textFlag('running service whose lessons are listed; SVC_TOKEN has a token of an owner', 'URL', {
    environment: 'SVC_URL',
    otherwise: runningUrlFlag.fallback,
  }),
}

interface Row {
  readonly provider: ProviderConfig
  /** `undefined` when the provider did not list them. */
  readonly models: readonly OfferedModel[] | undefined
  /** `undefined` when the provider was not asked. */
  readonly probe: ProbeResult | undefined
  /** What refusals have taught the running service. */
  readonly lessons: readonly Lesson[]
}

interface Lesson {
  readonly model: string
  readonly trait: string
}

const probeMs = 10_000
const serviceMs = 2_000

/** `svc providers` (docs/commands.md). */
export function providersCommandWith(access: GatewayAccess): Command<typeof flags> {
  async function listProviders(context: CommandContext<typeof flags>): Promise<number> {
    const { flags, environment, stdout, signal } = context
    const config = await access.load(flags.config, context)
    const gateway = await access.open(config, environment, { isFresh: true })
    try {
      await modelsListed(gateway.providers, signal)
      if (signal.aborted) return 130
      const open = new Map<string, Provider>(gateway.providers.map((provider) => [provider.id, provider]))
      const limit = AbortSignal.any([signal, AbortSignal.timeout(probeMs)])
      const service = { url: flags.url, environment, signal, timeoutMs: serviceMs }
      const lessons = lessonsIn(await answerIfRunning('/api/providers', service))
      const rows = await Promise.all(
        config.providers.map(async (provider): Promise<Row> => ({
          provider,
          models: open.get(provider.id)?.models.current(),
          probe: open.has(provider.id) ? await gateway.probe(provider.id, limit) : undefined,
          lessons: lessons.get(provider.id) ?? [],
        })),
      )
      if (flags.json) stdout.write(`${JSON.stringify(rows.map(jsonRow), undefined, 2)}\n`)
      else stdout.write(`${sourceLine(config)}\n\n${table(rows, stdout)}${lessonsText(rows, stdout)}`)
      return 0
    } finally {
      gateway.close()
    }
  }

  return {
    name: 'providers',
    summary: 'list the providers in the order they are tried',
    flags,
    examples: [
      { command: 'svc providers', does: 'lists the providers; also those that are off or unavailable, and why' },
      { command: 'svc providers | grep llama', does: 'in a pipe: a line for each provider, then one for each model' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: listProviders,
  }
}

/** `svc providers`. */
export const providersCommand = providersCommandWith(gatewayAccess)

function stateOf({ enabled, unavailable }: ProviderConfig): 'on' | 'off' | 'unavailable' {
  if (!enabled) return 'off'
  return unavailable === undefined ? 'on' : 'unavailable'
}

/** `ok 120 ms`, `401`, or why the provider did not answer. Most statuses below 500 are ok: the provider responds. */
function healthText(probe: ProbeResult | undefined): {
  readonly text: string
  readonly style: 'green' | 'red' | 'dim'
} {
  if (probe === undefined) return { text: '', style: 'dim' }
  if (probe.reason !== undefined) return { text: probe.reason, style: 'red' }
  if (probe.status === 401 || probe.status === 403) return { text: `${probe.status}: the key is refused`, style: 'red' }
  if (probe.status !== undefined && probe.status >= 500) return { text: `status ${probe.status}`, style: 'red' }
  return { text: `ok ${formatDuration(probe.ms)}`, style: 'green' }
}

function jsonRow({ provider, models, probe, lessons }: Row): object {
  const { id, protocol, baseUrl, unavailable } = provider
  return {
    id,
    protocol,
    state: stateOf(provider),
    ...(unavailable === undefined ? {} : { reason: unavailable }),
    base_url: baseUrl,
    health: probe === undefined ? null : healthText(probe).text,
    models: models?.map(({ name }) => name) ?? null,
    ...(lessons.length === 0 ? {} : { lessons }),
  }
}

const stateStyles = { on: 'green', off: 'dim', unavailable: 'yellow' } as const

function table(rows: readonly Row[], stdout: Output): string {
  const columns = [
    { title: '#', align: 'right' },
    { title: 'provider' },
    { title: 'protocol' },
    { title: 'state' },
    { title: 'health' },
    { title: 'models', shrinks: true },
  ] as const
  const cells = rows.map(({ provider, models, probe }, index): Cell[] => {
    const state = stateOf(provider)
    const last = state === 'on' ? modelsText(models, stdout.isTerminal) : (provider.unavailable ?? '')
    return [
      String(index + 1),
      provider.id,
      provider.protocol,
      { text: state, style: stateStyles[state] },
      healthText(probe),
      last,
    ]
  })
  if (stdout.isTerminal) return formatTable(columns, cells, paintFor(stdout), stdout.columns)
  const offers = rows.flatMap(({ provider, models = [] }) => models.map(({ name }) => [provider.id, name]))
  const lists = formatTable([{ title: 'provider' }, { title: 'model' }], offers, paintFor(stdout), Infinity)
  return formatTable(columns, cells, paintFor(stdout), Infinity) + (offers.length === 0 ? '' : `\n${lists}`)
}

/** The number of models, with their names on a terminal, where the line is cut. */
function modelsText(models: readonly OfferedModel[] | undefined, hasNames: boolean): string {
  if (models === undefined) return 'unknown: the provider did not list them'
  return `${models.length}${hasNames && models.length > 0 ? `: ${models.map(({ name }) => name).join(', ')}` : ''}`
}

/** The lessons of each provider in the answer of a service. */
function lessonsIn(answer: unknown): ReadonlyMap<string, readonly Lesson[]> {
  const providers = member(answer, 'providers')
  if (!Array.isArray(providers)) return new Map()
  return new Map(
    providers.map((provider: unknown) => {
      const lessons = member(provider, 'lessons')
      const all: readonly unknown[] = Array.isArray(lessons) ? lessons : []
      return [String(member(provider, 'id')), all.map((each) => lessonOf(each))]
    }),
  )
}

function lessonOf(lesson: unknown): Lesson {
  return { model: String(member(lesson, 'model')), trait: String(member(lesson, 'trait')) }
}

/** What refusals have taught within a day; empty without any. */
function lessonsText(rows: readonly Row[], stdout: Output): string {
  const lessons = rows.flatMap(({ provider, lessons: own }) =>
    own.map(({ model, trait }) => [provider.id, harmless(model), harmless(trait)]),
  )
  if (lessons.length === 0) return ''
  const columns = [{ title: 'provider' }, { title: 'model' }, { title: 'learned from refusals, for a day' }]
  return `\n${formatTable(columns, lessons, paintFor(stdout), stdout.isTerminal ? stdout.columns : Infinity)}`
}

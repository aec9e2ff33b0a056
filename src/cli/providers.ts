import type { ProviderConfig } from '../config/config.ts'
import type { OfferedModel, Provider } from '../gateway/provider.ts'
import { formatDuration, paintFor } from '../observe/text.ts'
import type { ProbeResult } from './assemble.ts'
import type { Command, CommandContext } from './command.ts'
import { configFlag, jsonFlag } from './flags.ts'
import { gatewayAccess, modelsListed } from './gateway-access.ts'
import type { GatewayAccess } from './gateway-access.ts'
import { sourceLine } from './source-line.ts'
import { formatTable } from './terminal.ts'
import type { Cell, Output } from './terminal.ts'

const flags = { config: configFlag, json: jsonFlag }

interface Row {
  readonly provider: ProviderConfig
  /** `undefined`: it did not say. */
  readonly models: readonly OfferedModel[] | undefined
  /** Absent: it was not asked. */
  readonly probe: ProbeResult | undefined
}

const probeMs = 10_000

/** `svc providers` (docs/commands.md). */
export function providersCommand(access: GatewayAccess): Command<typeof flags> {
  async function listProviders(context: CommandContext<typeof flags>): Promise<number> {
    const { flags, environment, stdout, signal } = context
    const config = await access.load(flags.config, context)
    const gateway = await access.open(config, environment, { isFresh: true })
    try {
      await modelsListed(gateway.providers, signal)
      if (signal.aborted) return 130
      const open = new Map<string, Provider>(gateway.providers.map((provider) => [provider.id, provider]))
      const limit = AbortSignal.any([signal, AbortSignal.timeout(probeMs)])
      const rows = await Promise.all(
        config.providers.map(async (provider): Promise<Row> => ({
          provider,
          models: open.get(provider.id)?.models.current(),
          probe: open.has(provider.id) ? await gateway.probe(provider.id, limit) : undefined,
        })),
      )
      if (flags.json) stdout.write(`${JSON.stringify(rows.map(jsonRow), undefined, 2)}\n`)
      else stdout.write(`${sourceLine(config)}\n\n${table(rows, stdout)}`)
      return 0
    } finally {
      gateway.close()
    }
  }

  return {
    name: 'providers',
    summary: 'list the providers in the order they are tried',
    flags,
    examples: [{ command: 'svc providers', does: 'the try-order; what is off or cannot be used, and why' }],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: listProviders,
  }
}

/** `svc providers`. */
export const providers = providersCommand(gatewayAccess)

function stateOf({ enabled, unavailable }: ProviderConfig): 'on' | 'off' | 'unavailable' {
  if (!enabled) return 'off'
  return unavailable === undefined ? 'on' : 'unavailable'
}

/** `ok 120 ms`, `401`, or why there was no answer. What answers anything but a refusal of the key can be reached. */
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

function jsonRow({ provider, models, probe }: Row): object {
  const { id, protocol, baseUrl, unavailable } = provider
  return {
    id,
    protocol,
    state: stateOf(provider),
    ...(unavailable === undefined ? {} : { reason: unavailable }),
    base_url: baseUrl,
    health: probe === undefined ? null : healthText(probe).text,
    models: models?.map(({ name }) => name) ?? null,
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
    return [
      String(index + 1),
      provider.id,
      provider.protocol,
      { text: state, style: stateStyles[state] },
      healthText(probe),
      state === 'on' ? modelsText(models) : (provider.unavailable ?? ''),
    ]
  })
  return formatTable(columns, cells, paintFor(stdout), stdout.isTerminal ? stdout.columns : Infinity)
}

function modelsText(models: readonly OfferedModel[] | undefined): string {
  if (models === undefined) return 'not known: the provider did not list them'
  return `${models.length}${models.length === 0 ? '' : `: ${models.map(({ name }) => name).join(', ')}`}`
}

import { configFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext, Output } from '../base/command-line/command.ts'
import { paintFor } from '../base/shown-text.ts'
import { modelFacts, type ListedModel } from '../formats/model.ts'
import { modelsListed } from '../gateway/models-listed.ts'
import { jsonFlag } from './flags.ts'
import { gatewayAccess, type GatewayAccess } from './gateway-access.ts'
import { formatTable } from './terminal.ts'

const flags = { config: configFlag, json: jsonFlag }

/** `svc models` (docs/commands.md). */
export function modelsCommandWith(access: GatewayAccess): Command<typeof flags> {
  async function listModels(context: CommandContext<typeof flags>): Promise<number> {
    const { flags, environment, stdout, stderr, signal } = context
    const gateway = await access.open(await access.load(flags.config, context), environment, { isFresh: true })
    try {
      await modelsListed(gateway.providers, signal)
      if (signal.aborted) return 130
      const models = gateway.models()
      if (flags.json) stdout.write(`${JSON.stringify(models.map(jsonRow), undefined, 2)}\n`)
      else if (models.length > 0) stdout.write(table(models, stdout))
      const silent = gateway.providers.filter((provider) => provider.models.current() === undefined).map(({ id }) => id)
      if (silent.length > 0)
        stderr.write(`svc: no list of models from ${silent.join(', ')} (run 'svc check' for the reasons)\n`)
      return 0
    } finally {
      gateway.close()
    }
  }

  return {
    name: 'models',
    summary: 'list the models with their providers in order',
    flags,
    examples: [
      { command: 'svc models', does: 'lists every model with its providers, price and context' },
      { command: "svc models --json | jq -r '.[].id'", does: 'lists the names only' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: listModels,
  }
}

/** `svc models`. */
export const modelsCommand = modelsCommandWith(gatewayAccess)

/** A model with the price and context of its first provider. */
function jsonRow({ name, offers }: ListedModel): object {
  return { id: name, providers: offers.map(({ provider }) => provider), ...modelFacts(offers[0].model) }
}

function table(models: readonly ListedModel[], stdout: Output): string {
  const columns = [
    { title: 'model' },
    { title: 'providers', shrinks: true },
    { title: 'USD per million in/out', align: 'right' },
    { title: 'context', align: 'right' },
  ] as const
  const cells = models.map(({ name, offers }) => {
    const { price, context } = offers[0].model
    return [
      name,
      offers.map(({ provider }) => provider).join(' → '),
      price === undefined ? '–' : `${price.input} / ${price.output}`,
      context === undefined ? '–' : context.toLocaleString('en-US'),
    ]
  })
  return formatTable(columns, cells, paintFor(stdout), stdout.isTerminal ? stdout.columns : Infinity)
}

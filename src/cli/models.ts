import type { ListedModel } from '../gateway/directory.ts'
import { paintFor } from '../observe/text.ts'
import type { Command, CommandContext } from './command.ts'
import { configFlag, jsonFlag } from './flags.ts'
import { gatewayAccess, modelsListed } from './gateway-access.ts'
import type { GatewayAccess } from './gateway-access.ts'
import { formatTable } from './terminal.ts'
import type { Output } from './terminal.ts'

const flags = { config: configFlag, json: jsonFlag }

/** `svc models` (docs/commands.md). */
export function modelsCommand(access: GatewayAccess): Command<typeof flags> {
  async function listModels(context: CommandContext<typeof flags>): Promise<number> {
    const { flags, environment, stdout, stderr, signal } = context
    const gateway = await access.open(await access.load(flags.config, context), environment, { isFresh: true })
    try {
      await modelsListed(gateway.providers, signal)
      if (signal.aborted) return 130
      const models = gateway.models()
      if (flags.json) stdout.write(`${JSON.stringify(models.map(jsonRow), undefined, 2)}\n`)
      else stdout.write(table(models, stdout))
      const silent = gateway.providers.filter((provider) => provider.models.current() === undefined).map(({ id }) => id)
      if (silent.length > 0) stderr.write(`svc: no list of models from ${silent.join(', ')} ('svc check' tells why)\n`)
      return 0
    } finally {
      gateway.close()
    }
  }

  return {
    name: 'models',
    summary: 'list the models, and who serves them in which order',
    flags,
    examples: [
      { command: 'svc models', does: 'every model, its providers, price and context' },
      { command: "svc models --json | jq -r '.[].id'", does: 'only the names' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: listModels,
  }
}

/** `svc models`. */
export const models = modelsCommand(gatewayAccess)

/** As the first provider describes it. */
function jsonRow({ name, offers }: ListedModel): object {
  const { context, maxOutput, price } = offers[0].model
  return {
    id: name,
    providers: offers.map(({ provider }) => provider),
    ...(context === undefined ? {} : { context }),
    ...(maxOutput === undefined ? {} : { max_output: maxOutput }),
    ...(price === undefined
      ? {}
      : {
          price: {
            input: price.input,
            output: price.output,
            ...(price.cachedInput === undefined ? {} : { cached_input: price.cachedInput }),
          },
        }),
  }
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

import type { ProbeResult } from '../app/assemble.ts'
import type { CommandContext } from '../base/command-line/command.ts'
import { harmless } from '../base/shown-text.ts'
import type { Config } from '../config/config.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { PriceBook } from '../prices/price-book.ts'

/** A gateway in this process, to be closed after use. */
export interface OpenGateway extends Gateway {
  /** Checks whether a provider can be reached and accepts the key. Never rejects. */
  probe(id: string, signal: AbortSignal): Promise<ProbeResult>
  close(): void
}

interface OpenOptions {
  readonly isFresh: boolean
  readonly isOffline?: boolean
}

/** Access to the configuration and its providers; replaced in tests. */
export interface GatewayAccess {
  /** @throws {ConfigError} */
  load(file: string | undefined, context: Pick<CommandContext, 'environment' | 'stderr'>): Promise<Config>
  /** Opens a gateway. @param options.isFresh ignore cached model lists @param options.isOffline send nothing */
  open(config: Config, environment: CommandContext['environment'], options: OpenOptions): Promise<OpenGateway>
}

/** Access to the configuration of this machine, with the gateway of the service. */
export const gatewayAccess: GatewayAccess = { load: loadHere, open: openHere }

async function loadHere(
  file: string | undefined,
  { environment, stderr }: Pick<CommandContext, 'environment' | 'stderr'>,
): Promise<Config> {
  const [{ loadConfig }, { loadPrices }, { loadPresets }, { loadAccess }, { checkAccess }, { accessFile }] =
    await Promise.all([
      import('../config/file/load-config.ts'),
      import('../config/file/parse-prices.ts'),
      import('../config/file/parse-presets.ts'),
      import('../config/file/parse-access.ts'),
      import('../app/check-access.ts'),
      import('../config/home.ts'),
    ])
  // Faults are reported before anything is asked.
  const [policy] = await Promise.all([loadAccess(environment), loadPrices(environment), loadPresets(environment)])
  const config = await loadConfig({
    environment,
    ...(file === undefined ? {} : { file }),
    warn: (message) => stderr.write(`svc: ${harmless(message)}\n`),
  })
  const providers = config.providers.map(({ id }) => id)
  checkAccess(policy, { providers, file: accessFile(environment) ?? '' })
  return config
}

/** The prices of this machine. */
export async function pricesHere(environment: CommandContext['environment']): Promise<PriceBook> {
  const [{ loadPrices }, { priceBook }, { shippedPrices }] = await Promise.all([
    import('../config/file/parse-prices.ts'),
    import('../prices/price-book.ts'),
    import('../app/shipped-prices.ts'),
  ])
  const prices = priceBook(shippedPrices())
  const { own, fetched } = await loadPrices(environment)
  prices.replace(own)
  prices.replaceFetched(fetched?.prices ?? new Map())
  return prices
}

async function openHere(
  config: Config,
  environment: CommandContext['environment'],
  { isFresh, isOffline = false }: OpenOptions,
): Promise<OpenGateway> {
  const [
    { assembleGateway },
    { httpClient },
    { drillTransport },
    { healthBook },
    { unlimitedAnswerBudget },
    { findHome },
  ] = await Promise.all([
    import('../app/assemble.ts'),
    import('../transport/http-client.ts'),
    import('../app/drill/drill-transport.ts'),
    import('../service/health/health.ts'),
    import('../service/answer-budget.ts'),
    import('../config/home.ts'),
  ])
  const transport = isOffline ? drillTransport(() => 'timeout') : httpClient()
  const prices = await pricesHere(environment)
  const assembled = assembleGateway(config, {
    transport,
    prices,
    health: healthBook(() => performance.now()),
    answerBudget: unlimitedAnswerBudget,
    log: { debug: () => {}, warn: () => {} },
    ...(isFresh ? {} : { modelsCache: findHome(environment).modelsCache }),
  })
  return {
    ...assembled,
    close() {
      assembled.close()
      transport.close()
    },
  }
}

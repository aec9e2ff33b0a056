import { table } from '../base/table.ts'
import type { Brand } from './brand.ts'
import { brands } from './catalogue.ts'
import type { Config, ProviderConfig } from './config.ts'
import { defaultFailover, defaultLimits } from './defaults.ts'
import { readVariable, type Environment } from './file/environment.ts'
import { resolveProvider } from './file/resolve-provider.ts'
import { probeModels } from './probe.ts'

/** Asks a server at this port of 127.0.0.1 for its models; `undefined` when none responds. Never rejects. */
export type Probe = (port: number) => Promise<readonly string[] | undefined>

export interface DetectOptions {
  readonly environment: Environment
  /** The port of this service, which is not asked. */
  readonly ownPort?: number
  /** Default: a request over TCP, at most 300 ms. */
  readonly probe?: Probe
}

/**
 * Makes a configuration of the providers on this machine (docs/configuration.md#without-a-file): local servers that
 * respond, then brands whose key is in the environment, in the catalogue's order. Without any, the echo. All ports are
 * asked concurrently.
 */
export async function detectProviders({ environment, ownPort, probe = probeModels }: DetectOptions): Promise<Config> {
  const local = await Promise.all(brands.map((brand) => responds(brand, ownPort, probe)))
  const found = [...brands.filter((_, index) => local[index]), ...brands.filter((brand) => hasKey(brand, environment))]
  const providers: readonly ProviderConfig[] = found.map(({ id }) => resolveProvider({ id }, environment))
  const shared = { limits: defaultLimits, failover: defaultFailover, aliases: table<string>() }
  if (providers.length > 0) return { ...shared, providers, source: { kind: 'detected' } }
  return {
    ...shared,
    providers: [resolveProvider({ id: 'echo', protocol: 'echo' }, environment)],
    source: { kind: 'echo' },
  }
}

async function responds({ port }: Brand, ownPort: number | undefined, probe: Probe): Promise<boolean> {
  if (port === undefined || port === ownPort) return false
  return (await probe(port)) !== undefined
}

function hasKey({ keys, isDetected }: Brand, environment: Environment): boolean {
  return isDetected && keys.some((name) => readVariable(environment, name) !== undefined)
}

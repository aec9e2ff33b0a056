import type { Brand } from './brand.ts'
import { brands } from './catalogue.ts'
import type { Config, ProviderConfig } from './config.ts'
import { defaultFailover, defaultLimits } from './defaults.ts'
import { probeModels } from './probe.ts'
import { readVariable, resolveProvider, type Environment } from './resolve-provider.ts'
import { table } from './table.ts'

/** The names of the models a server at this port of 127.0.0.1 offers; `undefined` when none answers. Never rejects. */
export type Probe = (port: number) => Promise<readonly string[] | undefined>

/** What to look for providers in. */
export interface DetectOptions {
  readonly environment: Environment
  /** The port this service listens on: never taken for a model server. */
  readonly ownPort?: number
  /** Default: a request over TCP, at most 300 ms. */
  readonly probe?: Probe
}

/**
 * A configuration of what is found: local servers that answer, then brands whose key is in the environment, each in the
 * catalogue's order; the echo when there is nothing (docs/configuration.md). All ports are asked at once; a closed one
 * answers at once.
 */
export async function detectProviders({ environment, ownPort, probe = probeModels }: DetectOptions): Promise<Config> {
  const local = await Promise.all(brands.map((brand) => answers(brand, ownPort, probe)))
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

async function answers({ port }: Brand, ownPort: number | undefined, probe: Probe): Promise<boolean> {
  if (port === undefined || port === ownPort) return false
  return (await probe(port)) !== undefined
}

function hasKey({ keys, isDetected }: Brand, environment: Environment): boolean {
  return isDetected && keys.some((name) => readVariable(environment, name) !== undefined)
}

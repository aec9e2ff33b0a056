import { harmless } from '../base/shown-text.ts'
import type { Config, ProviderConfig } from '../config/config.ts'
import { isLoopbackAddress } from '../http/origin-policy.ts'

export interface StartFacts {
  readonly host: string
  readonly port: number
  /** Where `/metrics` answers alone. Absent: nowhere. */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined
  readonly config: Config
  /** Path of the configuration file, which need not exist. */
  readonly path: string
  /** Path of keys.env, which need not exist. Absent: there is no folder for it. */
  readonly keysFile?: string | undefined
  /** Command name of this program. Default: `svc`. */
  readonly program?: string
  /** The extensions of `--auth`. */
  readonly extensions?: readonly { readonly name: string; readonly isOn: boolean }[]
}

const openToAll = 'every client that reaches this address can use it.'

/** The lines printed when the service is ready: address, providers, missing keys, and how to add a provider. */
export function startLines(facts: StartFacts): string {
  const { host, port, metrics, config, path, extensions = [] } = facts
  const address = `http://${addressOf(host)}:${port}`
  const usable = config.providers.filter(isUsable)
  const unusable = config.providers.filter((provider) => !isUsable(provider))
  const isOpen = extensions.every(({ isOn }) => !isOn)
  return [
    `svc is ready on ${address}`,
    ...(metrics === undefined ? [] : [`Metrics are on http://${addressOf(metrics.host)}:${metrics.port}/metrics`]),
    ...source(config, path),
    ...usable.map(({ id, models }, index) => `  ${index + 1}. ${id}: ${modelsOf(models)}`),
    ...unusable.map(
      ({ id, enabled, unavailable }) => `  -  ${id}: ${enabled ? (unavailable ?? 'unusable') : 'switched off'}`,
    ),
    ...advice(facts, usable.length),
    ...(extensions.length === 0 && !isLoopbackAddress(host) ? [`No one signs in: ${openToAll}`] : []),
    ...extensions.map(({ name, isOn }) => `${name} is ${isOn ? 'on.' : isOpen ? `OFF: ${openToAll}` : 'OFF.'}`),
    '',
  ].join('\n')
}

/** A host that a browser on this machine can open. */
function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]` : host
}

function isUsable({ enabled, unavailable }: ProviderConfig): boolean {
  return enabled && unavailable === undefined
}

function source(config: Config, path: string): readonly string[] {
  switch (config.source.kind) {
    case 'file':
      return [`Providers, tried in this order (${config.source.path}):`]
    case 'detected':
      return [`Providers found on this machine, tried in this order (no file at ${path}):`]
    case 'echo':
      return ['No provider is configured and no key was found: the built-in echo answers as model "echo".']
  }
}

function modelsOf(models: ProviderConfig['models']): string {
  if (models === '*') return 'every model it offers'
  const names = models.map(({ name }) => name)
  return names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ')
}

function advice({ config, path, keysFile, program = 'svc' }: StartFacts, usable: number): readonly string[] {
  const keys = keysFile === undefined ? 'the environment' : harmless(keysFile)
  if (config.source.kind === 'echo') {
    return [
      `To add a provider, open this address; or write its key, such as GROQ_API_KEY=…, into ${keys};`,
      `or write ${path} (${program} init makes one to begin with).`,
    ]
  }
  if (usable === 0) return [`No provider is usable: write the keys that are missing into ${keys}.`]
  return config.source.kind === 'detected'
    ? [`${program} init writes them into a file, where you choose the order.`]
    : []
}

/** One line with the source of the configuration and its number of providers. */
export function sourceLine({ source, providers }: Config): string {
  const count = `${providers.length} provider${providers.length === 1 ? '' : 's'}`
  switch (source.kind) {
    case 'file':
      return `${harmless(source.path)}: valid, ${count}`
    case 'detected':
      return `no configuration file: ${count} found on this machine ('svc init' writes them down)`
    case 'echo':
      return "no configuration file and no provider found: the echo answers ('svc init' begins a configuration)"
  }
}

import { harmless } from '../base/shown-text.ts'
import type { Config, ProviderConfig } from '../config/config.ts'

export interface StartFacts {
  readonly host: string
  readonly port: number
  readonly config: Config
  /** Path of the configuration file, which need not exist. */
  readonly path: string
  /** Command name of this program. Default: `svc`. */
  readonly program?: string
  /** The extensions of `--auth`. */
  readonly extensions?: readonly { readonly name: string; readonly isOn: boolean }[]
}

/** The lines printed when the service is ready: address, providers, missing keys, and how to add a provider. */
export function startLines({ host, port, config, path, program = 'svc', extensions = [] }: StartFacts): string {
  const address = `http://${host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
  const usable = config.providers.filter(isUsable)
  const unusable = config.providers.filter((provider) => !isUsable(provider))
  const isOpen = extensions.every(({ isOn }) => !isOn)
  return [
    `svc is ready on ${address}`,
    ...source(config, path),
    ...usable.map(({ id, models }, index) => `  ${index + 1}. ${id}: ${modelsOf(models)}`),
    ...unusable.map(
      ({ id, enabled, unavailable }) => `  -  ${id}: ${enabled ? (unavailable ?? 'unusable') : 'switched off'}`,
    ),
    ...advice(config, path, program, usable.length),
    ...extensions.map(
      ({ name, isOn }) =>
        `${name} is ${isOn ? 'on.' : isOpen ? 'OFF: every client that reaches this address can use it.' : 'OFF.'}`,
    ),
    '',
  ].join('\n')
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

function advice(config: Config, path: string, program: string, usable: number): readonly string[] {
  if (config.source.kind === 'echo') {
    return [
      'To add a provider, set its key, such as GROQ_API_KEY or OPENAI_API_KEY, and start again;',
      `or write ${path} (${program} init makes one to begin with).`,
    ]
  }
  if (usable === 0) return ['No provider is usable: set the keys that are missing and start again.']
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

import type { Config } from '../config/config.ts'
import { harmless } from '../observe/text.ts'

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

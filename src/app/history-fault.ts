import { ConfigError, type Config } from '../config/config.ts'

/** Conversations cannot be stored as the configuration asks. */
export function historyFault({ source }: Pick<Config, 'source'>, error: unknown): ConfigError {
  const found = `"server", but ${error instanceof Error ? error.message : String(error)}`
  const file = source.kind === 'file' ? source.path : ''
  return new ConfigError([{ file, field: 'history', found, allowed: '"server" with its key, or "browser"' }])
}

import { availableParallelism } from 'node:os'
import { booleanFlag, choiceFlag, integerFlag, namesFlag, textFlag, type Flag } from '../base/command-line/arguments.ts'

/** `--host ADDRESS` (docs/commands.md). */
export const hostFlag = textFlag('address to listen on; 0.0.0.0 for all', 'ADDRESS', {
  environment: 'SVC_HOST',
  fallback: '127.0.0.1',
})

/** `--port PORT` (docs/commands.md). */
export const portFlag = integerFlag('port to listen on; 0 picks a free one and prints it', 'PORT', {
  short: 'p',
  environment: 'SVC_PORT',
  minimum: 0,
  maximum: 65_535,
  fallback: 8000,
})

const extensionNames = namesFlag(
  'extensions to enable, separated by commas: provider_auth requires sign-in, keys admits programs with a key',
  'NAMES',
  { environment: 'SVC_AUTH', otherwise: '"auth" of providers.json' },
)

/** `--auth NAMES`: extensions, such as the one for sign-in (docs/sign-in.md). `undefined` without the flag. */
export const authFlag: Flag<readonly string[] | undefined> = {
  ...extensionNames,
  allowed: `none, or ${extensionNames.allowed}`,
  choices: ['none'],
  fallback: undefined,
  read(texts) {
    const read = extensionNames.read(texts)
    if (read?.value.includes('none') !== true) return read
    return read.value.length === 1 ? { value: [] } : undefined
  },
}

/** `--store URL`: where sessions and pending sign-ins are kept (docs/scaling.md). */
export const storeFlag = textFlag(
  'where sessions and limits are kept: memory, or a Redis or Valkey server that several machines share',
  'URL',
  { environment: 'SVC_STORE', otherwise: 'memory, of this process' },
)

/** `--metrics-port PORT`, or `HOST:PORT`: an address on which only `/metrics` answers; `undefined` without the flag. */
export const metricsPortFlag: Flag<{ readonly host: string; readonly port: number } | undefined> = {
  summary: 'port of its own for /metrics, without sign-in and keys: PORT of this machine, or HOST:PORT',
  placeholder: 'PORT',
  environment: 'SVC_METRICS_PORT',
  otherwise: 'the port of the service alone',
  allowed: 'a port from 0 to 65535, or an address and a port such as 0.0.0.0:9464',
  choices: [],
  fallback: undefined,
  read(texts) {
    const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(texts.at(-1) ?? '') ?? []
    if (port === undefined || Number(port) > 65_535) return undefined
    return { value: { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) } }
  },
}

const workersMax = 128

/** `--workers N` (docs/decisions/0009-many-processes.md): the number of workers; `undefined` without the flag. */
export const workersFlag: Flag<number | undefined> = {
  summary: 'processes that share the port, restarted one by one with SIGUSR2; auto is one for each core',
  placeholder: 'N',
  environment: 'SVC_WORKERS',
  otherwise: 'one process',
  allowed: `auto, or an integer from 1 to ${workersMax}`,
  choices: ['auto'],
  fallback: undefined,
  read(texts) {
    const text = texts.at(-1) ?? ''
    const value =
      text === 'auto' ? Math.min(availableParallelism(), workersMax) : /^\d{1,3}$/.test(text) ? Number(text) : 0
    return value >= 1 && value <= workersMax ? { value } : undefined
  },
}

/** `--log-level LEVEL`. */
export const logLevelFlag = choiceFlag('lowest level to log', ['debug', 'info', 'warn', 'error', 'silent'], {
  environment: 'SVC_LOG_LEVEL',
  fallback: 'info',
  placeholder: 'LEVEL',
})

/** `--log-format FORMAT`. */
export const logFormatFlag = choiceFlag(
  'format of log lines; auto: human on a terminal, else json',
  ['auto', 'human', 'json'],
  {
    environment: 'SVC_LOG_FORMAT',
    fallback: 'auto',
    placeholder: 'FORMAT',
  },
)

/** `--json` of commands that print a table. */
export const jsonFlag = booleanFlag('print JSON instead of a table')

import { availableParallelism } from 'node:os'
import { booleanFlag, choiceFlag, integerFlag, namesFlag, textFlag, type Flag } from './arguments.ts'

/** `--config FILE`: shared by all commands that read providers. */
export const configFlag = textFlag('provider file to use', 'FILE', {
  environment: 'SVC_CONFIG',
  otherwise: '~/.svc/providers.json, or what is found on this machine',
})

/** `--host ADDRESS` (docs/commands.md). */
export const hostFlag = textFlag('address to listen on; 0.0.0.0 is every one', 'ADDRESS', {
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

/** `--auth NAMES`: extensions, such as the one for sign-in (docs/sign-in.md). */
export const authFlag = namesFlag(
  'extensions to switch on, separated by commas: provider_auth makes people sign in',
  'NAMES',
  { environment: 'SVC_AUTH', otherwise: 'nobody need sign in' },
)

/** `--store URL`: where sessions and sign-ins under way are kept (docs/deployment.md). */
export const storeFlag = textFlag(
  'where sessions and limits are kept: memory, or a Redis or Valkey server that several machines share, with what they know of providers',
  'URL',
  { environment: 'SVC_STORE', otherwise: 'memory, of this process' },
)

const workersMost = 128

/** `--workers N` (docs/decisions/0009-many-processes.md): `undefined` without it, else how many. */
export const workersFlag: Flag<number | undefined> = {
  summary: 'processes that share the port, restarted one by one with SIGUSR2; auto is one a core',
  placeholder: 'N',
  environment: 'SVC_WORKERS',
  otherwise: 'this process serves by itself',
  allowed: `auto, or a whole number from 1 to ${workersMost}`,
  choices: ['auto'],
  fallback: undefined,
  read(texts) {
    const text = texts.at(-1) ?? ''
    const value =
      text === 'auto' ? Math.min(availableParallelism(), workersMost) : /^\d{1,3}$/.test(text) ? Number(text) : 0
    return value >= 1 && value <= workersMost ? { value } : undefined
  },
}

/** `--log-level LEVEL`. */
export const logLevelFlag = choiceFlag('least important line to log', ['debug', 'info', 'warn', 'error', 'silent'], {
  environment: 'SVC_LOG_LEVEL',
  fallback: 'info',
  placeholder: 'LEVEL',
})

/** `--log-format FORMAT`. */
export const logFormatFlag = choiceFlag(
  'form of a log line; auto: human on a terminal, else json',
  ['auto', 'human', 'json'],
  {
    environment: 'SVC_LOG_FORMAT',
    fallback: 'auto',
    placeholder: 'FORMAT',
  },
)

/** `--json`: for commands that print a table. */
export const jsonFlag = booleanFlag('print JSON instead of a table')

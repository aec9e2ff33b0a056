import { packageVersion } from './app/package.ts'
import { commands } from './cli/commands.ts'
import { dispatch, reportFailure } from './cli/dispatch.ts'
import { interruption, processInput, processOutput } from './cli/process.ts'
import { errorFields, type Logger } from './observe/log.ts'

let isService = false
let hasFailed = false
let log: Logger | undefined

function readerLeft(): void {
  if (!isService) process.exit(0)
}

const argv = process.argv.slice(2)
const environment = process.env
const stdout = processOutput(1, environment, readerLeft)
const stderr = processOutput(2, environment, () => {})

const { signal, stop } = interruption()

/** Logs an uncaught error and drains the service, whose state is unknown now. Its supervisor restarts it. */
function uncaught(error: unknown): void {
  if (log === undefined) process.exit(reportFailure(error, argv, { stderr, environment }))
  log.error('an uncaught error; the service stops', errorFields(error))
  hasFailed = true
  stop('uncaught error')
}
process.on('uncaughtException', uncaught)
process.on('unhandledRejection', uncaught)

const exitCode = await dispatch(argv, commands, packageVersion(), {
  environment,
  stdin: processInput(),
  stdout,
  stderr,
  signal,
  starting: (command) => {
    isService = command.isService === true
  },
  logging: (one) => {
    log = one
  },
})
await log?.flush()
process.exit(hasFailed ? 1 : exitCode)

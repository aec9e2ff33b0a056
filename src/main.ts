import { commands } from './cli/commands.ts'
import { dispatch, reportFailure } from './cli/dispatch.ts'
import { interruption, packageVersion, processInput, processOutput } from './cli/process.ts'

let isService = false
let hasFailed = false

function readerLeft(): void {
  if (!isService) process.exit(0)
}

const argv = process.argv.slice(2)
const environment = process.env
const stdout = processOutput(1, environment, readerLeft)
const stderr = processOutput(2, environment, () => {})

const { signal, stop } = interruption()

/** A service does not go on in a state nobody knows, but lets the requests under way finish; whoever supervises it starts it again. */
function uncaught(error: unknown): void {
  const exitCode = reportFailure(error, argv, { stderr, environment })
  if (!isService) process.exit(exitCode)
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
})
process.exit(hasFailed ? 1 : exitCode)

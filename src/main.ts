import { commands } from './cli/commands.ts'
import { dispatch, reportFailure } from './cli/dispatch.ts'
import { interruption, packageVersion, processInput, processOutput } from './cli/process.ts'

let isService = false

function readerLeft(): void {
  if (!isService) process.exit(0)
}

const argv = process.argv.slice(2)
const environment = process.env
const stdout = processOutput(1, environment, readerLeft)
const stderr = processOutput(2, environment, () => {})

function uncaught(error: unknown): void {
  process.exit(reportFailure(error, argv, { stderr, environment }))
}
process.on('uncaughtException', uncaught)
process.on('unhandledRejection', uncaught)

const exitCode = await dispatch(argv, commands, packageVersion(), {
  environment,
  stdin: processInput(),
  stdout,
  stderr,
  signal: interruption(),
  starting: (command) => {
    isService = command.isService === true
  },
})
process.exit(exitCode)

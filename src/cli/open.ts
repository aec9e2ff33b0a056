import { runningUrlFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { ServiceRefusal, serviceRoot, serviceUrl } from '../base/command-line/running-service.ts'
import { UsageError } from '../base/start-errors.ts'
import { withinMs } from '../service/within.ts'
import { askService } from './running-service.ts'

const flags = { url: runningUrlFlag }

const answerMs = 10_000
/** A program that opens addresses may run for as long as the browser. */
const openMs = 3_000

/** Opens an address in a browser. @returns false where that is not possible */
export type Browse = (address: string, environment: CommandContext['environment']) => Promise<boolean>

/** `svc open` (docs/commands.md). */
export function openCommandWith(browse: Browse): Command<typeof flags> {
  return {
    name: 'open',
    summary: 'open the page of a running service in the browser',
    flags,
    examples: [
      { command: 'svc open', does: 'opens http://127.0.0.1:8000' },
      { command: 'svc open --url https://svc.example.org', does: 'opens the page of another machine' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    async run({ flags, environment, stdout, stderr, signal }) {
      const address = pageAddress(flags.url)
      if (!(await isRunning(address, signal))) return 130
      stdout.write(`${address.href}\n`)
      if (!(await browse(address.href, environment)))
        stderr.write('svc: no browser was found: open this address in one\n')
      return 0
    },
  }
}

/** `svc open`. */
export const openCommand = openCommandWith(browseHere)

/**
 * The address of the page: without query and fragment, which could carry a credential into the browser's history.
 *
 * @throws {UsageError} for an address with a user or password
 */
function pageAddress(given: string): URL {
  const url = new URL(serviceUrl(given))
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--url: found an address with a user or password, allowed: an address without them')
  return new URL(`${serviceRoot(url.origin + url.pathname)}/`)
}

/** @returns false when the signal aborted @throws when no service answers */
async function isRunning(address: URL, signal: AbortSignal): Promise<boolean> {
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    await askService(address, { path: '/health' }, transport, limit)
  } catch (error) {
    if (signal.aborted) return false
    // Another status than 200 is an answer, too.
    if (!(error instanceof ServiceRefusal)) throw error
  } finally {
    transport.close()
  }
  return true
}

async function browseHere(address: string, environment: CommandContext['environment']): Promise<boolean> {
  const command = browserCommand(process.platform, environment)
  if (command === undefined || Bun.which(command[0]) === null) return false
  const child = Bun.spawn([...command, address], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  child.unref()
  const code = await withinMs(child.exited, openMs)
  return code === undefined || code === 0
}

/**
 * The command that opens addresses; undefined on a Linux without a display. (On Windows, `start` is a command of
 * cmd.exe, to which parts of an address would be commands.)
 */
export function browserCommand(
  platform: string,
  environment: CommandContext['environment'],
): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return environment['DISPLAY'] || environment['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined
}

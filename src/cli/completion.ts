import { UsageError } from '../app/start-errors.ts'
import { show } from './arguments.ts'
import { modelMembers } from './chat-client.ts'
import type { Command, CommandContext, CommandEntry } from './command.ts'
import { complete, type NameSources, type TypedFlags } from './complete.ts'
import { completionScripts, filesMark, shells } from './completion-scripts.ts'
import { gatewayAccess, type GatewayAccess } from './gateway-access.ts'
import { answerIfRunning } from './running-service.ts'

/** A user waits for completions: a service that takes longer is not asked again. */
const serviceMs = 700

/** `svc completion` (docs/commands.md). @param commands those that are completed */
export function completionCommandWith(
  commands: readonly CommandEntry[],
  access: GatewayAccess = gatewayAccess,
): Command {
  return {
    name: 'completion',
    summary: 'print the script that completes svc in a shell',
    flags: {},
    arguments: {
      usage: shells.join('|'),
      summary: 'the shell; words after -- are completed instead, one completion a line',
      maximum: Infinity,
    },
    examples: [
      { command: 'source <(svc completion bash)', does: 'for bash, in ~/.bashrc' },
      { command: 'source <(svc completion zsh)', does: 'for zsh, in ~/.zshrc, after compinit' },
      { command: 'svc completion fish | source', does: 'for fish, in ~/.config/fish/config.fish' },
    ],
    async run(context) {
      const [name = '', ...words] = context.positionals
      const shell = shells.find((each) => each === name)
      if (shell === undefined)
        throw new UsageError(
          name === ''
            ? `the shell is missing: ${shells.join(', ')}`
            : `shell ${show(name)}, allowed: ${shells.join(', ')}`,
        )
      if (words.length === 0) context.stdout.write(completionScripts[shell])
      else {
        const found = await complete(commands, words, nameSources(access, context))
        for (const line of found === 'files' ? [filesMark] : found) context.stdout.write(`${line}\n`)
      }
      return 0
    },
  }
}

/** Names of the running service; without one, those of the configuration and of the cached lists of models. */
function nameSources(access: GatewayAccess, context: CommandContext): NameSources {
  return {
    async models(typed) {
      const served = modelMembers(await listOfService(typed, context), 'id')
      if (served.length > 0) return served
      return (await fromFiles(typed, access, context, (gateway) => gateway.models().map(({ name }) => name))) ?? []
    },
    async providers(typed) {
      const served = modelMembers(await listOfService(typed, context), 'owned_by')
      if (served.length > 0) return served
      return (await fromFiles(typed, access, context, (gateway) => gateway.providers.map(({ id }) => id))) ?? []
    },
  }
}

/** The list of models of the running service; undefined without an answer in time. The files have names as well. */
function listOfService(typed: TypedFlags, { environment, signal }: CommandContext): Promise<unknown> {
  const url = typed.get('--url') ?? environment['SVC_URL']
  return answerIfRunning('/v1/models', { url, environment, signal, timeoutMs: serviceMs })
}

/** Undefined without a valid configuration; `svc check` reports its faults. */
async function fromFiles<Found>(
  typed: TypedFlags,
  access: GatewayAccess,
  { environment, stderr }: CommandContext,
  find: (gateway: Awaited<ReturnType<GatewayAccess['open']>>) => Found,
): Promise<Found | undefined> {
  try {
    const quiet = { environment, stderr: { ...stderr, write: () => {} } }
    const config = await access.load(typed.get('--config') ?? (environment['SVC_CONFIG'] || undefined), quiet)
    const gateway = await access.open(config, environment, { isFresh: false })
    try {
      return find(gateway)
    } finally {
      gateway.close()
    }
  } catch {
    // A completion prints no errors into the line that is being typed.
    return undefined
  }
}

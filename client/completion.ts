import { show } from '../src/base/command-line/arguments.ts'
import type { Command, CommandContext, CommandEntry } from '../src/base/command-line/command.ts'
import { UsageError } from '../src/base/start-errors.ts'
import { modelMembers } from './chat/chat-client.ts'
import { complete, type NameSources, type TypedFlags } from './completion/complete.ts'
import { completionScripts, filesMark, shells } from './completion/completion-scripts.ts'
import type { ClientHost } from './host.ts'

/** A user waits for completions: a service that takes longer is not asked again. */
const serviceMs = 700

/** `svc completion` (docs/commands.md). @param commands those that are completed */
export function completionCommand(host: ClientHost, commands: readonly CommandEntry[]): Command {
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
        const found = await complete(commands, words, nameSources(host, context))
        for (const line of found === 'files' ? [filesMark] : found) context.stdout.write(`${line}\n`)
      }
      return 0
    },
  }
}

/** Names of the running service; without one, those of the configuration and of the cached lists of models. */
function nameSources(host: ClientHost, context: CommandContext): NameSources {
  const { environment, signal } = context

  /** Names of models (`id`) or providers (`owned_by`). Without an answer in time, the files have names as well. */
  async function namesOf(typed: TypedFlags, member: 'id' | 'owned_by'): Promise<readonly string[]> {
    const url = typed.get('--url') ?? environment['SVC_URL']
    const list = await host.answerIfRunning('/v1/models', { url, environment, signal, timeoutMs: serviceMs })
    const served = modelMembers(list, member)
    if (served.length > 0) return served
    const { models, providers } = await namesInFiles(host, typed, context)
    return member === 'id' ? models : providers
  }

  return { models: (typed) => namesOf(typed, 'id'), providers: (typed) => namesOf(typed, 'owned_by') }
}

/** Empty without a valid configuration; `svc check` reports its faults. */
async function namesInFiles(
  host: ClientHost,
  typed: TypedFlags,
  { environment, stderr }: CommandContext,
): ReturnType<ClientHost['providerNames']> {
  try {
    const quiet = { environment, stderr: { ...stderr, write: () => {} } }
    return await host.providerNames(typed.get('--config') ?? (environment['SVC_CONFIG'] || undefined), quiet)
  } catch {
    // A completion prints no errors into the line that is being typed.
    return { models: [], providers: [] }
  }
}

import type { ProbeResult } from '../app/assemble.ts'
import { parseArguments, type Flags } from '../base/command-line/arguments.ts'
import type { Command, CommandContext, Output } from '../base/command-line/command.ts'
import type { Config, ProviderConfig } from '../config/config.ts'
import { defaultFailover, defaultLimits } from '../config/defaults.ts'
import { resolveProvider } from '../config/file/resolve-provider.ts'
import { textPart } from '../formats/chat/testing.ts'
import type { OfferedModel } from '../formats/model.ts'
import { type Reply, watchable } from '../formats/reply.ts'
import { gateway } from '../gateway/gateway.ts'
import { fixedModels, type ModelList, type AnswerService } from '../gateway/provider.ts'
import type { GatewayAccess } from './gateway-access.ts'

/** An output that keeps the written text. For tests. */
export function capturedOutput(options: Partial<Omit<Output, 'write'>> = {}): Output & { readonly text: string } {
  let text = ''
  return {
    isTerminal: false,
    columns: 80,
    hasColour: false,
    ...options,
    write(piece) {
      text += piece
    },
    get text() {
      return text
    },
  }
}

export interface CapturedOptions {
  /** Text of standard input; absent: standard input is a terminal. */
  readonly input?: string
  readonly environment?: CommandContext['environment']
  readonly signal?: AbortSignal
  readonly stdout?: Partial<Omit<Output, 'write'>>
  readonly stderr?: Partial<Omit<Output, 'write'>>
}

/** A command's context without a process. For tests. */
export function capturedContext(options: CapturedOptions = {}) {
  return {
    environment: options.environment ?? {},
    stdin: { isTerminal: options.input === undefined, text: async () => options.input ?? '' },
    stdout: capturedOutput(options.stdout),
    stderr: capturedOutput(options.stderr),
    signal: options.signal ?? new AbortController().signal,
  }
}

/** Runs a command with these arguments. For tests. */
export async function runCommand<Of extends Flags>(
  command: Command<Of>,
  argv: readonly string[],
  options: CapturedOptions = {},
) {
  const context = capturedContext(options)
  const code = await command.run({ ...context, ...parseArguments(command.flags, argv, context.environment) })
  return { code, out: context.stdout.text, err: context.stderr.text }
}

/** A provider that exists only in a test. */
export interface TestProvider {
  readonly id: string
  /** `undefined`: the provider does not list its models. Default: one, `<id>-model`. */
  readonly models?: readonly OfferedModel[] | undefined
  /** Default: answers `hello`. */
  readonly chat?: AnswerService
  readonly config?: Partial<ProviderConfig>
  /** Result of a probe. Default: an answer after 12 ms. */
  readonly probe?: Partial<ProbeResult>
}

/** A model by name only. */
export function namedModel(name: string, rest: Partial<OfferedModel> = {}): OfferedModel {
  return { name, upstream: name, aliases: [], ...rest }
}

/** An answer that streams these texts, then ends or fails. */
export function streamed(texts: readonly string[], failure?: Error): Reply {
  const left = [...texts]
  return watchable({
    kind: 'stream',
    isEmpty: false,
    async read() {
      const text = left.shift()
      if (text !== undefined) return [textPart({ id: 'c', created: 1, model: 'm' }, text)]
      if (failure !== undefined) throw failure
      return undefined
    },
    cancel: () => {},
  })
}

/** Access to a real gateway over fake providers. */
export function fakeAccess(
  fakes: readonly TestProvider[],
  source: Config['source'] = { kind: 'file', path: 'providers.json' },
): GatewayAccess {
  const config: Config = {
    providers: fakes.map(({ id, config: changed }) => ({
      ...resolveProvider({ id, baseUrl: 'http://127.0.0.1:1/v1' }, {}),
      ...changed,
    })),
    limits: defaultLimits,
    failover: defaultFailover,
    aliases: {},
    source,
  }
  const isUsable = ({ id }: TestProvider): boolean =>
    config.providers.some((provider) => provider.id === id && provider.enabled && provider.unavailable === undefined)
  return {
    load: async () => config,
    open: async () => ({
      ...gateway({
        providers: fakes.filter(isUsable).map((fake) => ({
          id: fake.id,
          models: modelsOf(fake),
          candidate: (model) => ({
            name: fake.id,
            model,
            answer: fake.chat ?? (async () => streamed(['hello'])),
            speaks: () => true,
            continues: false,
            unavailable: () => undefined,
          }),
        })),
        aliases: {},
        ...config.failover,
      }),
      probe: async (id) => ({ ms: 12, ...fakes.find((fake) => fake.id === id)?.probe }),
      close: () => {},
    }),
  }
}

function modelsOf(fake: TestProvider): ModelList {
  if (!('models' in fake)) return fixedModels([namedModel(`${fake.id}-model`)])
  return fake.models === undefined
    ? { current: () => undefined, version: 0, pending: undefined }
    : fixedModels(fake.models)
}

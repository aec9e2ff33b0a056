import { UsageError } from '../app/start-errors.ts'
import { formatDuration, harmless, harmlessLines, paintFor } from '../observe/text.ts'
import { repeatedFlag, textFlag } from './arguments.ts'
import { gatewayChat, serviceChat, type StreamedAnswer, type ChatClient } from './chat-client.ts'
import type { Command, CommandContext } from './command.ts'
import { configFlag } from './flags.ts'
import { gatewayAccess, type GatewayAccess } from './gateway-access.ts'
import { imageUrl } from './image-part.ts'
import { serviceUrl } from './running-service.ts'

const flags = {
  model: textFlag('model to ask', 'MODEL', {
    short: 'm',
    environment: 'SVC_MODEL',
    otherwise: 'the first chat model of the first provider',
  }),
  image: repeatedFlag('image to send: PNG, JPEG, GIF or WebP of at most 20 MB, or an http URL', 'FILE'),
  url: textFlag('running service to ask, such as http://127.0.0.1:8000', 'URL', {
    environment: 'SVC_URL',
    otherwise: 'the providers are asked directly',
  }),
  config: configFlag,
}

type Context = CommandContext<typeof flags>

/** `svc chat` (docs/commands.md). */
export function chatCommandWith(access: GatewayAccess): Command<typeof flags> {
  async function runChat(context: Context): Promise<number> {
    const { flags } = context
    const question = await readQuestion(context)
    const images = await Promise.all(flags.image.map(imageUrl))
    if (flags.url !== undefined) return askRunning(serviceUrl(flags.url), question, images, context)
    const gateway = await access.open(await access.load(flags.config, context), context.environment, { isFresh: false })
    try {
      return await answer(gatewayChat(gateway), question, images, context)
    } finally {
      gateway.close()
    }
  }

  return {
    name: 'chat',
    summary: 'ask one question and print the answer while it arrives',
    flags,
    arguments: {
      usage: '[QUESTION…]',
      summary: 'the question; standard input is appended when it is not a terminal',
      maximum: Infinity,
    },
    examples: [
      { command: 'svc chat "Why is the sky blue?"', does: 'asks the first chat model' },
      { command: 'svc chat -m gpt-4o-mini --image photo.jpg "What is this?"', does: 'sends an image to a model' },
      { command: 'git diff | svc chat "Review this."', does: 'asks about piped input' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: runChat,
  }
}

/** `svc chat`. */
export const chatCommand = chatCommandWith(gatewayAccess)

async function askRunning(url: string, question: string, images: readonly string[], context: Context): Promise<number> {
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  try {
    return await answer(serviceChat(url, transport), question, images, context)
  } finally {
    transport.close()
  }
}

const stdinHintMs = 1_000
const interrupted = 130

async function readQuestion({ positionals, stdin, stderr }: Context): Promise<string> {
  const asked = positionals.join(' ').trim()
  if (stdin.isTerminal) {
    if (asked === '') throw new UsageError('the question is missing: svc chat "Why is the sky blue?"')
    return asked
  }
  // Without the hint, an open pipe without input would make the command wait silently.
  const hint = setTimeout(() => stderr.write('svc: reading standard input (use </dev/null for none)\n'), stdinHintMs)
  const piped = (await stdin.text()).trim()
  clearTimeout(hint)
  const question = [asked, piped].filter((part) => part !== '').join('\n\n')
  if (question === '') throw new UsageError('the question is missing: standard input was empty')
  return question
}

async function answer(
  client: ChatClient,
  question: string,
  images: readonly string[],
  context: Context,
): Promise<number> {
  const { flags, stdout, stderr, signal } = context
  const start = performance.now()
  let last = ''
  try {
    const model = flags.model ?? (await client.defaultModel(signal))
    const answered = await client.ask(
      JSON.stringify({ model, messages: [{ role: 'user', content: contentOf(question, images) }], stream: true }),
      signal,
    )
    for await (const piece of answered.pieces) {
      if (signal.aborted) break
      if (piece !== '') last = piece
      stdout.write(stdout.isTerminal ? harmlessLines(piece) : piece)
    }
    endLine(last, context)
    if (signal.aborted) return interrupted
    if (stderr.isTerminal) stderr.write(`${paintFor(stderr)('dim', servedBy(answered, performance.now() - start))}\n`)
    return 0
  } catch (error) {
    endLine(last, context)
    if (signal.aborted) return interrupted
    throw error
  }
}

function contentOf(question: string, images: readonly string[]): unknown {
  if (images.length === 0) return question
  return [{ type: 'text', text: question }, ...images.map((url) => ({ type: 'image_url', image_url: { url } }))]
}

function endLine(last: string, { stdout }: Context): void {
  if (last !== '' && !last.endsWith('\n')) stdout.write('\n')
}

function servedBy({ provider, model }: StreamedAnswer, ms: number): string {
  const who = [model, provider === undefined ? undefined : `from ${provider}`]
    .filter((word) => word !== undefined)
    .map(harmless)
    .join(' ')
  return `${who === '' ? 'answered' : who}, ${formatDuration(ms)}`
}

import { formatDuration, harmless, harmlessLines, paintFor } from '../observe/text.ts'
import { gatewayAnswerer, serviceAnswerer } from './answer.ts'
import type { Answer, Answerer } from './answer.ts'
import { repeatedFlag, show, textFlag, UsageError } from './arguments.ts'
import type { Command, CommandContext } from './command.ts'
import { configFlag } from './flags.ts'
import { gatewayAccess } from './gateway-access.ts'
import type { GatewayAccess } from './gateway-access.ts'
import { imageUrl } from './image-part.ts'

const flags = {
  model: textFlag('model to ask', 'MODEL', {
    short: 'm',
    environment: 'SVC_MODEL',
    otherwise: 'the first one of the first provider',
  }),
  image: repeatedFlag('picture to show: PNG, JPEG, GIF or WebP of at most 20 MB, or an http URL', 'FILE'),
  url: textFlag('running service to ask, such as http://127.0.0.1:8000', 'URL', {
    environment: 'SVC_URL',
    otherwise: 'the providers, without a service',
  }),
  config: configFlag,
}

type Context = CommandContext<typeof flags>

/** `svc chat` (docs/commands.md). */
export function chatCommand(access: GatewayAccess): Command<typeof flags> {
  async function runChat(context: Context): Promise<number> {
    const { flags } = context
    const question = await readQuestion(context)
    const images = await Promise.all(flags.image.map(imageUrl))
    if (flags.url !== undefined) return askService(checkedUrl(flags.url), question, images, context)
    const gateway = await access.open(await access.load(flags.config, context), context.environment, { isFresh: false })
    try {
      return await answer(gatewayAnswerer(gateway), question, images, context)
    } finally {
      gateway.close()
    }
  }

  return {
    name: 'chat',
    summary: 'ask one question; the answer is written as it comes',
    flags,
    arguments: {
      usage: '[QUESTION…]',
      summary: 'what to ask; standard input is read when it is no terminal, and stands after the question',
      maximum: Infinity,
    },
    examples: [
      { command: 'svc chat "Why is the sky blue?"', does: 'asks the first model of the first provider' },
      { command: 'svc chat -m gpt-4o-mini --image photo.jpg "What is this?"', does: 'shows a picture to a model' },
      { command: 'git diff | svc chat "Review this."', does: 'a question about what is piped in' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: runChat,
  }
}

/** `svc chat`. */
export const chat = chatCommand(gatewayAccess)

async function askService(url: string, question: string, images: readonly string[], context: Context): Promise<number> {
  const { httpClient } = await import('../transport/http-client.ts')
  const transport = httpClient()
  try {
    return await answer(serviceAnswerer(url, transport), question, images, context)
  } finally {
    transport.close()
  }
}

function checkedUrl(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new UsageError(`--url: found ${show(url)}, allowed: an http or https URL`)
  return url
}

const stdinHintMs = 1_000
const interrupted = 130

async function readQuestion({ positionals, stdin, stderr }: Context): Promise<string> {
  const asked = positionals.join(' ').trim()
  if (stdin.isTerminal) {
    if (asked === '') throw new UsageError('there is no question: svc chat "Why is the sky blue?"')
    return asked
  }
  // A parent that left the pipe open would otherwise have us wait in silence.
  const hint = setTimeout(() => stderr.write('svc: reading standard input (</dev/null does without)\n'), stdinHintMs)
  const piped = (await stdin.text()).trim()
  clearTimeout(hint)
  const question = [asked, piped].filter((part) => part !== '').join('\n\n')
  if (question === '') throw new UsageError('there is no question: standard input was empty')
  return question
}

async function answer(
  answerer: Answerer,
  question: string,
  images: readonly string[],
  context: Context,
): Promise<number> {
  const { flags, stdout, stderr, signal } = context
  const start = performance.now()
  let last = ''
  try {
    const model = flags.model ?? (await answerer.defaultModel(signal))
    const answered = await answerer.ask(
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

function servedBy({ provider, model }: Answer, ms: number): string {
  const who = [model, provider === undefined ? undefined : `from ${provider}`]
    .filter((word) => word !== undefined)
    .map(harmless)
    .join(' ')
  return `${who === '' ? 'answered' : who}, ${formatDuration(ms)}`
}

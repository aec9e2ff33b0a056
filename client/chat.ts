import { booleanFlag, repeatedFlag, textFlag, configFlag } from '../src/base/command-line/arguments.ts'
import type { Command, CommandContext } from '../src/base/command-line/command.ts'
import { serviceRoot, serviceUrl, sessionToken } from '../src/base/command-line/running-service.ts'
import { harmless, paintFor } from '../src/base/shown-text.ts'
import { UsageError } from '../src/base/start-errors.ts'
import { HomeError } from '../src/base/user-home.ts'
import { answerJson, answerLine, answerPrinter, ask, type ChatState } from './chat/answer.ts'
import { readAttachment, readImage } from './chat/attachment.ts'
import { serviceChat } from './chat/chat-client.ts'
import { converse, promptCommands } from './chat/converse.ts'
import { keepConversation, readConversation } from './chat/kept-conversation.ts'
import { textOfMessage, userMessage, type Attachment } from './chat/messages.ts'
import type { ChatClient, ClientHost } from './host.ts'

const flags = {
  model: textFlag('model to ask', 'MODEL', {
    short: 'm',
    environment: 'SVC_MODEL',
    otherwise: 'the first chat model of the first provider',
  }),
  system: textFlag('instructions for the model', 'TEXT', { short: 's' }),
  file: repeatedFlag('file to send: text in UTF-8 of at most 4 MB, or a picture as for --image', 'FILE', {
    short: 'f',
  }),
  image: repeatedFlag('image to send: PNG, JPEG, GIF or WebP of at most 20 MB, or an http URL', 'FILE'),
  continue: booleanFlag('go on with the last conversation', { short: 'c' }),
  json: booleanFlag('print the answer as one line of JSON, with model, provider, usage, cost and trail'),
  url: textFlag('running service to ask, such as http://127.0.0.1:8000', 'URL', {
    environment: 'SVC_URL',
    otherwise: 'the providers are asked directly',
  }),
  config: configFlag,
}

type Context = CommandContext<typeof flags>

const stdinHintMs = 1_000
const interrupted = 130

/** `svc chat` (docs/commands.md). */
export function chatCommand(host: ClientHost): Command<typeof flags> {
  async function runChat(context: Context): Promise<number> {
    const { flags } = context
    const question = await readQuestion(context)
    const attachments = await Promise.all([
      ...flags.image.map(readImage),
      ...flags.file.map((file) => readAttachment('--file', file)),
    ])
    const conversation = await openConversation(host, context)
    const talk = (client: ChatClient): Promise<number> =>
      question === undefined
        ? talkAtTerminal({ host, client, conversation, attachments }, context)
        : answerOnce({ host, client, conversation, attachments }, question, context)
    if (flags.url !== undefined) return withService(host, serviceUrl(flags.url), context, talk)
    const providers = await host.openProviders(flags.config, context)
    try {
      return await talk(providers)
    } finally {
      providers.close()
    }
  }

  return {
    name: 'chat',
    summary: 'talk with a model, or ask it one question',
    flags,
    arguments: {
      usage: '[QUESTION…]',
      summary:
        'the question; standard input is appended when it is not a terminal. Without a question, a conversation begins',
      maximum: Infinity,
    },
    examples: [
      { command: 'svc chat', does: 'begins a conversation; /help lists its commands' },
      { command: 'svc chat "Why is the sky blue?"', does: 'asks the first chat model' },
      { command: 'svc chat --continue "And at night?"', does: 'goes on with the last conversation' },
      { command: 'svc chat -m gpt-4o-mini --image photo.jpg "What is this?"', does: 'sends an image to a model' },
      { command: 'git diff | svc chat "Review this."', does: 'asks about piped input' },
      { command: 'svc chat --json "1 + 1?" | jq .usage', does: 'for programs: one line of JSON' },
    ],
    exitCodes: { 130: 'stopped by Ctrl-C' },
    run: runChat,
  }
}

async function withService(
  host: ClientHost,
  url: string,
  { environment }: Context,
  talk: (client: ChatClient) => Promise<number>,
): Promise<number> {
  const token = sessionToken(environment, 'it must be a session token or a key')
  const base = new URL(`${serviceRoot(url)}/v1`)
  const link = await host.connect(base, token)
  try {
    return await talk(serviceChat(link, base))
  } finally {
    link.close()
  }
}

/** Reads the question; `undefined`: a conversation is wanted. */
async function readQuestion({ flags, positionals, stdin, stdout, stderr }: Context): Promise<string | undefined> {
  const asked = positionals.join(' ').trim()
  if (stdin.isTerminal) {
    if (asked !== '') return asked
    if (stdin.edit !== undefined && stdout.isTerminal && !flags.json) return undefined
    throw new UsageError('the question is missing: svc chat "Why is the sky blue?"')
  }
  // Without the hint, an open pipe without input would make the command wait silently.
  const hint = setTimeout(() => stderr.write('svc: reading standard input (use </dev/null for none)\n'), stdinHintMs)
  const piped = (await stdin.text()).trim()
  clearTimeout(hint)
  const question = [asked, piped].filter((part) => part !== '').join('\n\n')
  if (question === '') throw new UsageError('the question is missing: standard input was empty')
  return question
}

async function openConversation(host: ClientHost, { flags, environment }: Context): Promise<ChatState> {
  const kept = flags.continue ? await readConversation(host.lastConversation(environment)) : undefined
  if (flags.continue && kept === undefined)
    throw new UsageError('--continue: no conversation is kept yet: svc chat begins one')
  return {
    model: flags.model ?? kept?.model,
    system: flags.system ?? kept?.system,
    messages: kept?.messages ?? [],
  }
}

/** A conversation before its next question. */
interface Talk {
  readonly host: ClientHost
  readonly client: ChatClient
  readonly conversation: ChatState
  /** Files beside the question. */
  readonly attachments: readonly Attachment[]
}

async function answerOnce({ host, client, conversation, attachments }: Talk, question: string, context: Context) {
  const { flags, stdout, stderr, signal } = context
  const printer = answerPrinter(stdout)
  const show = flags.json ? (): void => undefined : printer.show
  const ended = await ask(conversation, userMessage(question, attachments), { client, show, signal }).finally(
    printer.end,
  )
  // A script leaves no trace of its questions, unless it goes on with a conversation.
  if (stdout.isTerminal || flags.continue) await keep(host, conversation, context)
  if (ended === undefined) return interrupted
  if (flags.json) stdout.write(`${answerJson(ended)}\n`)
  else if (stderr.isTerminal) stderr.write(`${paintFor(stderr)('dim', answerLine(ended))}\n`)
  return 0
}

async function talkAtTerminal({ host, client, conversation, attachments }: Talk, context: Context): Promise<number> {
  const { stdin, stdout, stderr, signal } = context
  const dim = paintFor(stderr)
  const { model, messages } = conversation
  const going = messages.length === 0 ? '' : `, after ${messages.length / 2} answers`
  stderr.write(`${dim('dim', `${harmless(model ?? 'the first chat model')}${going}; /help lists the commands`)}\n`)
  const editor = await stdin.edit?.({
    output: stdout,
    history: messages.flatMap(asHistory).toReversed(),
    complete: (line) => promptCommands.filter((name) => line !== '' && name.startsWith(line)),
    signal,
  })
  if (editor === undefined) throw new Error('standard input is no terminal')
  return converse({
    conversation,
    attachments,
    client,
    editor,
    keep: () => keep(host, conversation, context),
    context,
  })
}

/** Questions of one line can be called up again. */
function asHistory(message: ChatState['messages'][number]): readonly string[] {
  const text = textOfMessage(message)
  return message.role !== 'user' || text === '' || /[\u0000-\u001f\u007f-\u009f]/.test(text) ? [] : [text]
}

/** Keeps the conversation for `--continue`. A home folder that cannot be written is no error of the answer. */
async function keep(
  host: ClientHost,
  { model, system, messages }: ChatState,
  { environment, stderr }: Context,
): Promise<void> {
  if (model === undefined || messages.length === 0) return
  try {
    const path = host.lastConversation(environment)
    const isKept = await keepConversation(path, { model, system, messages }, host)
    if (!isKept) stderr.write('svc: the conversation is too large to be kept for --continue\n')
  } catch (error) {
    if (error instanceof HomeError) return
    const reason = error instanceof Error ? error.message : String(error)
    stderr.write(`svc: the conversation is not kept for --continue: ${harmless(reason)}\n`)
  }
}

import { writeFile } from 'node:fs/promises'
import { show } from '../../src/base/command-line/arguments.ts'
import type { CommandContext, LineEditor } from '../../src/base/command-line/command.ts'
import { errorCode } from '../../src/base/error-code.ts'
import { nearestName } from '../../src/base/nearest.ts'
import { harmless, paintFor } from '../../src/base/shown-text.ts'
import type { ChatClient } from '../host.ts'
import { answerLine, answerPrinter, ask, type ChatState } from './answer.ts'
import { readAttachment } from './attachment.ts'
import { textOfMessage, userMessage, type Attachment } from './messages.ts'

const interrupted = 130
const prompt = '> '
const morePrompt = '… '

export interface ConverseOptions {
  readonly conversation: ChatState
  /** Files beside the first question. */
  readonly attachments: readonly Attachment[]
  readonly client: ChatClient
  readonly editor: LineEditor
  /** Called after each answer. */
  readonly keep: () => Promise<void>
  readonly context: Pick<CommandContext, 'stdout' | 'stderr' | 'signal'>
}

/** A command inside of a conversation, such as `/new`. */
interface PromptCommand {
  /** The text after its name, for the help. */
  readonly usage?: string
  readonly summary: string
  /** @returns true at the end of the conversation */
  run(text: string): boolean | void | Promise<boolean | void>
}

/** Names of the commands inside of a conversation, for completion. */
export const promptCommands = ['/model', '/system', '/file', '/new', '/save', '/help', '/exit'] as const

/** Talks with a user at a terminal until they end it. @returns the exit code */
export async function converse(options: ConverseOptions): Promise<number> {
  const { conversation, client, editor, keep } = options
  const { stdout, stderr, signal } = options.context
  const paint = paintFor(stderr)
  let attachments = options.attachments
  let interrupts = 0

  function note(text: string): void {
    stderr.write(`${paint('dim', text)}\n`)
  }

  function complain(error: unknown): void {
    stderr.write(`${paint('red', `svc: ${harmless(error instanceof Error ? error.message : String(error))}`)}\n`)
  }

  const commands: Readonly<Record<(typeof promptCommands)[number], PromptCommand>> = {
    '/model': {
      usage: '[NAME]',
      summary: 'ask this model from now on; without a name: show the model',
      run(name) {
        if (name !== '') conversation.model = name
        note(`model: ${harmless(conversation.model ?? 'the first chat model')}`)
      },
    },
    '/system': {
      usage: '[TEXT]',
      summary: 'instructions for the model; without a text: remove them',
      run(text) {
        conversation.system = text === '' ? undefined : text
        note(text === '' ? 'no instructions' : 'instructions are set')
      },
    },
    '/file': {
      usage: 'PATH',
      summary: 'send a file with the next question: text, or a picture',
      async run(path) {
        if (path === '') return complain('/file needs a path: /file notes.txt')
        attachments = [...attachments, await readAttachment('/file', path)]
        note(`${attachments.length === 1 ? 'a file goes' : `${attachments.length} files go`} with the next question`)
      },
    },
    '/new': {
      summary: 'begin a new conversation; model and instructions stay',
      run() {
        conversation.messages = []
        attachments = []
        note('a new conversation')
      },
    },
    '/save': {
      usage: 'FILE',
      summary: 'write the conversation into a new file, as Markdown',
      async run(path) {
        if (path === '') return complain('/save needs a file: /save talk.md')
        await save(path, conversation)
        note(`written to ${harmless(path)}`)
      },
    },
    '/help': {
      summary: 'list these commands',
      run() {
        const rows = Object.entries(commands).map(([name, { usage = '', summary }]) => [`${name} ${usage}`, summary])
        for (const [name = '', summary = ''] of rows) stderr.write(`  ${name.padEnd(16)}${summary}\n`)
        note('A line that ends with \\ goes on in the next one, and """ begins and ends a text of several lines.')
        note('Ctrl-C stops an answer; at the prompt, Ctrl-C twice or Ctrl-D ends the conversation.')
      },
    },
    '/exit': { summary: 'end the conversation', run: () => true },
  }

  async function command(name: string, text: string): Promise<boolean> {
    const found = Object.entries(commands).find(([each]) => each === name)?.[1]
    if (found !== undefined) return (await found.run(text)) === true
    const near = nearestName(name, promptCommands)
    complain(`unknown command ${show(name)}: ${near === undefined ? '/help lists them' : `did you mean ${near}?`}`)
    return false
  }

  async function answer(question: string): Promise<void> {
    const stop = new AbortController()
    const printer = answerPrinter(stdout)
    const sent = attachments
    attachments = []
    try {
      const ended = await editor.whileBusy(
        ask(conversation, userMessage(question, sent), {
          client,
          show: printer.show,
          signal: AbortSignal.any([signal, stop.signal]),
        }),
        () => stop.abort(),
      )
      printer.end()
      note(ended === undefined ? 'stopped' : answerLine(ended))
      await keep()
    } catch (error) {
      printer.end()
      attachments = sent
      throw error
    }
  }

  /** @returns true at the end of the conversation */
  async function obey(text: string): Promise<boolean> {
    // A path such as /etc/hosts is no command.
    const given = /^(\/[a-z]+)(?:\s+([^]*))?$/.exec(text)
    try {
      if (given !== null) return await command(given[1] ?? '', (given[2] ?? '').trim())
      if (text !== '') await answer(text)
    } catch (error) {
      complain(error)
    }
    return false
  }

  try {
    for (;;) {
      const typed = await readText(editor)
      if (signal.aborted) return interrupted
      if (typed.kind === 'end') return 0
      if (typed.kind === 'interrupted') {
        if (++interrupts === 2) return interrupted
        note('Ctrl-C again, Ctrl-D or /exit ends the conversation')
        continue
      }
      interrupts = 0
      if (await obey(typed.text.trim())) return 0
    }
  } finally {
    editor.close()
  }
}

/** Reads a text of one line, or of several ones: see `/help`. Ctrl-C abandons a text that has begun. */
async function readText(editor: LineEditor): ReturnType<LineEditor['read']> {
  const first = await editor.read(prompt)
  if (first.kind !== 'line') return first
  const isQuoted = first.text.trim() === '"""'
  let text = isQuoted ? '' : first.text
  while (isQuoted || text.endsWith('\\')) {
    const next = await editor.read(morePrompt)
    if (next.kind === 'interrupted') return { kind: 'line', text: '' }
    if (next.kind === 'end') return next
    if (isQuoted && next.text.trim() === '"""') break
    text = isQuoted ? `${text}${text === '' ? '' : '\n'}${next.text}` : `${text.slice(0, -1)}\n${next.text}`
  }
  return { kind: 'line', text }
}

/** Writes a new file that its owner only can read. @throws when the file exists, or cannot be written */
async function save(path: string, { model, system, messages }: ChatState): Promise<void> {
  const parts = [`# Conversation with ${model ?? 'a model'}`]
  if (system !== undefined) parts.push(`## Instructions\n\n${system}`)
  for (const message of messages)
    parts.push(`## ${message.role === 'user' ? 'Question' : 'Answer'}\n\n${textOfMessage(message)}`)
  try {
    await writeFile(path, `${parts.join('\n\n')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const code = errorCode(error)
    const reason = code === 'EEXIST' ? 'exists: choose another name' : `cannot be written (${code ?? String(error)})`
    throw new Error(`${show(path)} ${reason}`, { cause: error })
  }
}

import { writeFile } from 'node:fs/promises'
import { show } from '../../src/base/command-line/arguments.ts'
import type { CommandContext, LineEditor } from '../../src/base/command-line/command.ts'
import { errorCode } from '../../src/base/error-code.ts'
import { nearestName } from '../../src/base/nearest.ts'
import { harmless, paintFor, type Paint } from '../../src/base/shown-text.ts'
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
  const { editor } = options
  try {
    return await new Conversation(options).run()
  } finally {
    editor.close()
  }
}

class Conversation {
  readonly #options: ConverseOptions
  readonly #paint: Paint
  /** Files that go with the next question. */
  #attachments: readonly Attachment[]
  readonly #commands: Readonly<Record<(typeof promptCommands)[number], PromptCommand>> = {
    '/model': {
      usage: '[NAME]',
      summary: 'ask this model from now on; without a name: show the model',
      run: (name) => this.#setModel(name),
    },
    '/system': {
      usage: '[TEXT]',
      summary: 'instructions for the model; without a text: remove them',
      run: (text) => this.#setSystem(text),
    },
    '/file': {
      usage: 'PATH',
      summary: 'send a file with the next question: text, or a picture',
      run: (path) => this.#attach(path),
    },
    '/new': { summary: 'begin a new conversation; model and instructions stay', run: () => this.#startAnew() },
    '/save': {
      usage: 'FILE',
      summary: 'write the conversation into a new file, as Markdown',
      run: (path) => this.#saveTo(path),
    },
    '/help': { summary: 'list these commands', run: () => this.#help() },
    '/exit': { summary: 'end the conversation', run: () => true },
  }

  constructor(options: ConverseOptions) {
    this.#options = options
    this.#attachments = options.attachments
    this.#paint = paintFor(options.context.stderr)
  }

  /** @returns the exit code */
  async run(): Promise<number> {
    const { editor, context } = this.#options
    let interrupts = 0
    for (;;) {
      const typed = await readText(editor)
      if (context.signal.aborted) return interrupted
      if (typed.kind === 'end') return 0
      if (typed.kind === 'interrupted') {
        if (++interrupts === 2) return interrupted
        this.#note('Ctrl-C again, Ctrl-D or /exit ends the conversation')
        continue
      }
      interrupts = 0
      if (await this.#obey(typed.text.trim())) return 0
    }
  }

  #note(text: string): void {
    this.#options.context.stderr.write(`${this.#paint('dim', text)}\n`)
  }

  #complain(error: unknown): void {
    const reason = harmless(error instanceof Error ? error.message : String(error))
    this.#options.context.stderr.write(`${this.#paint('red', `svc: ${reason}`)}\n`)
  }

  #setModel(name: string): void {
    const { conversation } = this.#options
    if (name !== '') conversation.model = name
    this.#note(`model: ${harmless(conversation.model ?? 'the first chat model')}`)
  }

  #setSystem(text: string): void {
    this.#options.conversation.system = text === '' ? undefined : text
    this.#note(text === '' ? 'no instructions' : 'instructions are set')
  }

  async #attach(path: string): Promise<void> {
    if (path === '') return this.#complain('/file needs a path: /file notes.txt')
    this.#attachments = [...this.#attachments, await readAttachment('/file', path)]
    const { length } = this.#attachments
    this.#note(`${length === 1 ? 'a file goes' : `${length} files go`} with the next question`)
  }

  #startAnew(): void {
    this.#options.conversation.messages = []
    this.#attachments = []
    this.#note('a new conversation')
  }

  async #saveTo(path: string): Promise<void> {
    if (path === '') return this.#complain('/save needs a file: /save talk.md')
    await save(path, this.#options.conversation)
    this.#note(`written to ${harmless(path)}`)
  }

  #help(): void {
    for (const [name, { usage = '', summary }] of Object.entries(this.#commands))
      this.#options.context.stderr.write(`  ${`${name} ${usage}`.padEnd(16)}${summary}\n`)
    this.#note('A line that ends with \\ goes on in the next one, and """ begins and ends a text of several lines.')
    this.#note('Ctrl-C stops an answer; at the prompt, Ctrl-C twice or Ctrl-D ends the conversation.')
  }

  /** @returns true at the end of the conversation */
  async #obey(text: string): Promise<boolean> {
    // A path such as /etc/hosts is no command.
    const given = /^(\/[a-z]+)(?:\s+([^]*))?$/.exec(text)
    try {
      if (given !== null) return await this.#command(given[1] ?? '', (given[2] ?? '').trim())
      if (text !== '') await this.#answer(text)
    } catch (error) {
      this.#complain(error)
    }
    return false
  }

  async #command(name: string, text: string): Promise<boolean> {
    const found = Object.entries(this.#commands).find(([each]) => each === name)?.[1]
    if (found !== undefined) return (await found.run(text)) === true
    const near = nearestName(name, promptCommands)
    this.#complain(
      `unknown command ${show(name)}: ${near === undefined ? '/help lists them' : `did you mean ${near}?`}`,
    )
    return false
  }

  async #answer(question: string): Promise<void> {
    const { conversation, client, editor, keep, context } = this.#options
    const stop = new AbortController()
    const signal = AbortSignal.any([context.signal, stop.signal])
    const printer = answerPrinter(context.stdout)
    const sent = this.#attachments
    this.#attachments = []
    try {
      const asked = ask(conversation, userMessage(question, sent), { client, show: printer.show, signal })
      const ended = await editor.whileBusy(asked, () => stop.abort())
      printer.end()
      this.#note(ended === undefined ? 'stopped' : answerLine(ended))
      await keep()
    } catch (error) {
      printer.end()
      this.#attachments = sent
      throw error
    }
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

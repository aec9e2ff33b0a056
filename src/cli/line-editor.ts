import { createInterface, type Interface } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { EditorOptions, LineEditor, Output, TypedLine } from '../base/command-line/command.ts'

/** The side of a terminal that keys come from. */
export interface KeySource {
  setRawMode(isRaw: boolean): unknown
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
  off(event: 'data', listener: (bytes: Buffer) => void): unknown
  resume(): unknown
  pause(): unknown
}

const pasteBegin = '\u001b[200~'
const pasteEnd = '\u001b[201~'
const pastesOn = '\u001b[?2004h'
const pastesOff = '\u001b[?2004l'
const ctrlC = '\u0003'

/** Characters of one paste; the rest is dropped. */
const pasteMax = 4 * 1024 * 1024
/** Characters of all pastes; the oldest are forgotten. */
const pastesMax = 16 * 1024 * 1024
/** A paste of one line up to this length is typed into the line. */
const inlineMax = 500
const historyMax = 500

class TerminalEditor implements LineEditor {
  readonly #keys: KeySource
  readonly #output: Output
  readonly #signal: AbortSignal
  readonly #decoder = new StringDecoder('utf8')
  readonly #pastes = pasteBook()
  readonly #screen: Writable
  readonly #lines: Interface
  readonly #feed: (text: string) => void
  #reading: ((line: TypedLine) => void) | undefined
  #interrupt: (() => void) | undefined
  #isClosed = false

  constructor(keys: KeySource, { output, history, complete, signal }: EditorOptions) {
    this.#keys = keys
    this.#output = output
    this.#signal = signal
    const typed = new PassThrough()
    this.#screen = screenOf(output)
    this.#lines = createInterface({
      input: typed,
      output: this.#screen,
      terminal: true,
      history: history.slice(0, historyMax),
      historySize: historyMax,
      removeHistoryDuplicates: true,
      completer: (line: string) => [complete(line), line],
    })
    this.#feed = pasteFilter(
      (text) => void typed.write(text),
      (text) => void typed.write(this.#pastes.shown(text)),
    )
    this.#lines.on('line', (text) => this.#settle({ kind: 'line', text: this.#pastes.expanded(text) }))
    this.#lines.on('close', this.#end)
    this.#lines.on('SIGINT', () => this.#clearOrInterrupt())
    signal.addEventListener('abort', this.#end)
    process.on('exit', this.#restore)
    process.on('SIGWINCH', this.#resized)
    keys.setRawMode(true)
    keys.on('data', this.#receive)
    keys.resume()
    output.write(pastesOn)
  }

  read(prompt: string): Promise<TypedLine> {
    if (this.#isClosed || this.#signal.aborted) return Promise.resolve({ kind: 'end' })
    return new Promise((resolve) => {
      this.#reading = resolve
      this.#lines.setPrompt(prompt)
      this.#lines.prompt()
    })
  }

  async whileBusy<Result>(work: Promise<Result>, onInterrupt: () => void): Promise<Result> {
    this.#interrupt = onInterrupt
    try {
      return await work
    } finally {
      this.#interrupt = undefined
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#signal.removeEventListener('abort', this.#end)
    process.off('exit', this.#restore)
    process.off('SIGWINCH', this.#resized)
    this.#keys.off('data', this.#receive)
    this.#lines.close()
    this.#restore()
    this.#keys.pause()
  }

  readonly #receive = (bytes: Buffer): void => {
    const text = this.#decoder.write(bytes)
    if (this.#reading !== undefined) this.#feed(text)
    else if (text.includes(ctrlC)) this.#interrupt?.()
  }

  #settle(line: TypedLine): void {
    const resolve = this.#reading
    this.#reading = undefined
    resolve?.(line)
  }

  readonly #end = (): void => this.#settle({ kind: 'end' })

  /** The number of columns is known after the other listeners of the signal. */
  readonly #resized = (): void => {
    setImmediate(() => this.#screen.emit('resize'))
  }

  /** Also at an exit from elsewhere: a terminal that stays in raw mode shows nothing that is typed. */
  readonly #restore = (): void => {
    this.#output.write(pastesOff)
    this.#keys.setRawMode(false)
  }

  #clearOrInterrupt(): void {
    if (this.#lines.line === '') return this.#settle({ kind: 'interrupted' })
    this.#lines.write(null, { ctrl: true, name: 'e' })
    this.#lines.write(null, { ctrl: true, name: 'u' })
  }
}

/**
 * Starts to edit lines on a terminal, which stays in raw mode until `close`. A pasted text of several lines is shown as
 * `[pasted text 1: 34 lines]`, and is in its place when the line is entered.
 */
export function lineEditor(keys: KeySource, options: EditorOptions): LineEditor {
  return new TerminalEditor(keys, options)
}

/** The output as a stream of a terminal. */
function screenOf(output: Output): Writable {
  const screen = new Writable({
    write(chunk, _encoding, done) {
      output.write(String(chunk))
      done()
    },
  })
  Object.defineProperty(screen, 'columns', { get: () => output.columns })
  return screen
}

/**
 * Divides what a terminal sends into keys and pastes. A terminal marks pastes; without its marks, keys with a line
 * break before their end are a paste, too.
 */
export function pasteFilter(onKeys: (text: string) => void, onPaste: (text: string) => void): (text: string) => void {
  let pending = ''
  let paste: string | undefined

  function pass(text: string): void {
    if (text === '') return
    if (/[\r\n][^]/.test(text.replace(/\r\n/g, '\n'))) onPaste(text)
    else onKeys(text)
  }

  return (text) => {
    let rest = pending + text
    pending = ''
    while (rest !== '') {
      const mark = paste === undefined ? pasteBegin : pasteEnd
      const found = rest.indexOf(mark)
      const upTo = found === -1 ? rest.length - heldBack(rest, mark) : found
      if (paste === undefined) pass(rest.slice(0, upTo))
      else paste += rest.slice(0, Math.min(upTo, pasteMax - paste.length))
      if (found === -1) {
        pending = rest.slice(upTo)
        return
      }
      rest = rest.slice(found + mark.length)
      if (paste !== undefined) onPaste(paste)
      paste = paste === undefined ? '' : undefined
    }
  }
}

/** Length of the end of a text that may be the beginning of a mark. Escape alone is a key. */
function heldBack(text: string, mark: string): number {
  for (let length = mark.length - 1; length > 1; length--) if (text.endsWith(mark.slice(0, length))) return length
  return 0
}

/** Keeps pasted texts for as long as their places in lines may be entered. */
function pasteBook() {
  const texts = new Map<string, string>()
  let count = 0
  let size = 0

  /** Control characters would be taken for keys. */
  function shown(pasted: string): string {
    const text = pasted
      .replace(/\r\n?/g, '\n')
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
      .replace(/\n$/, '')
    if (text.length <= inlineMax && !/[\n\t]/.test(text)) return text
    const place = `[pasted text ${++count}: ${text.split('\n').length} lines]`
    texts.set(place, text)
    size += text.length
    for (const [oldest, { length }] of texts) {
      if (size <= pastesMax) break
      texts.delete(oldest)
      size -= length
    }
    return place
  }

  return {
    shown,
    expanded: (line: string) => line.replace(/\[pasted text \d+: \d+ lines\]/g, (place) => texts.get(place) ?? place),
  }
}

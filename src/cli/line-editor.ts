import { createInterface } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { EditorOptions, LineEditor, TypedLine } from '../base/command-line/command.ts'

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

/**
 * Starts to edit lines on a terminal, which stays in raw mode until `close`. A pasted text of several lines is shown as
 * `[pasted text 1: 34 lines]`, and is in its place when the line is entered.
 */
export function lineEditor(keys: KeySource, { output, history, complete, signal }: EditorOptions): LineEditor {
  const decoder = new StringDecoder('utf8')
  const typed = new PassThrough()
  const screen = new Writable({
    write(chunk, _encoding, done) {
      output.write(String(chunk))
      done()
    },
  })
  Object.defineProperty(screen, 'columns', { get: () => output.columns })
  const lines = createInterface({
    input: typed,
    output: screen,
    terminal: true,
    history: history.slice(0, historyMax),
    historySize: historyMax,
    removeHistoryDuplicates: true,
    completer: (line: string) => [complete(line), line],
  })
  const pastes = pasteBook()
  const feed = pasteFilter(
    (text) => void typed.write(text),
    (text) => void typed.write(pastes.shown(text)),
  )
  let reading: ((line: TypedLine) => void) | undefined
  let interrupt: (() => void) | undefined
  let isClosed = false

  function receive(bytes: Buffer): void {
    const text = decoder.write(bytes)
    if (reading !== undefined) feed(text)
    else if (text.includes(ctrlC)) interrupt?.()
  }

  function settle(line: TypedLine): void {
    const resolve = reading
    reading = undefined
    resolve?.(line)
  }

  function end(): void {
    settle({ kind: 'end' })
  }

  /** The number of columns is known after the other listeners of the signal. */
  function resized(): void {
    setImmediate(() => screen.emit('resize'))
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    signal.removeEventListener('abort', end)
    process.off('exit', restore)
    process.off('SIGWINCH', resized)
    keys.off('data', receive)
    lines.close()
    restore()
    keys.pause()
  }

  /** Also at an exit from elsewhere: a terminal that stays in raw mode shows nothing that is typed. */
  function restore(): void {
    output.write(pastesOff)
    keys.setRawMode(false)
  }

  lines.on('line', (text) => settle({ kind: 'line', text: pastes.expanded(text) }))
  lines.on('close', end)
  lines.on('SIGINT', () => {
    if (lines.line === '') settle({ kind: 'interrupted' })
    else {
      lines.write(null, { ctrl: true, name: 'e' })
      lines.write(null, { ctrl: true, name: 'u' })
    }
  })
  signal.addEventListener('abort', end)
  process.on('exit', restore)
  process.on('SIGWINCH', resized)
  keys.setRawMode(true)
  keys.on('data', receive)
  keys.resume()
  output.write(pastesOn)

  return {
    read(prompt) {
      if (isClosed || signal.aborted) return Promise.resolve({ kind: 'end' })
      return new Promise((resolve) => {
        reading = resolve
        lines.setPrompt(prompt)
        lines.prompt()
      })
    },
    async whileBusy(work, onInterrupt) {
      interrupt = onInterrupt
      try {
        return await work
      } finally {
        interrupt = undefined
      }
    },
    close,
  }
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

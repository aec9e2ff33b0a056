import { describe, expect, test } from 'bun:test'
import { EventEmitter } from 'node:events'
import { lineEditor, pasteFilter } from './line-editor.ts'
import { capturedOutput } from './testing.ts'

/** Passes these chunks. @returns keys and pastes, in turn */
function passed(...chunks: readonly string[]): readonly (readonly ['keys' | 'paste', string])[] {
  const seen: (readonly ['keys' | 'paste', string])[] = []
  const feed = pasteFilter(
    (text) => seen.push(['keys', text]),
    (text) => seen.push(['paste', text]),
  )
  for (const chunk of chunks) feed(chunk)
  return seen
}

describe('pasteFilter', () => {
  test('passes keys', () => {
    expect(passed('a', '\u001b', '\u001b[A', 'b\r', 'c\r\n')).toEqual([
      ['keys', 'a'],
      ['keys', '\u001b'],
      ['keys', '\u001b[A'],
      ['keys', 'b\r'],
      ['keys', 'c\r\n'],
    ])
  })

  test('finds a marked paste, however its bytes are divided', () => {
    const whole = 'a\u001b[200~one\rtwo\u001b[201~b'
    for (let first = 0; first < whole.length; first++)
      for (let second = first; second < whole.length; second++) {
        // An escape alone is a key.
        if ([whole.slice(0, first), whole.slice(first, second)].some((part) => part.endsWith('\u001b'))) continue
        const parts = passed(whole.slice(0, first), whole.slice(first, second), whole.slice(second))
        expect(parts.filter(([, text]) => text !== '')).toEqual([
          ['keys', 'a'],
          ['paste', 'one\rtwo'],
          ['keys', 'b'],
        ])
      }
  })

  test('takes lines that arrive together for a paste', () => {
    expect(passed('one\rtwo\r')).toEqual([['paste', 'one\rtwo\r']])
  })

  test('bounds a paste', () => {
    const [paste] = passed('\u001b[200~', ...Array.from({ length: 5 }, () => 'x'.repeat(1024 * 1024)), '\u001b[201~')
    expect(paste?.[1].length).toBe(4 * 1024 * 1024)
  })
})

/** An editor whose keys a test types. */
function typing(history: readonly string[] = []) {
  const emitter = new EventEmitter<{ data: [Buffer] }>()
  const modes: boolean[] = []
  const keys = Object.assign(emitter, {
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
    resume: () => emitter,
    pause: () => emitter,
  })
  const output = capturedOutput({ isTerminal: true })
  const controller = new AbortController()
  const complete = (line: string) => ['/model', '/new'].filter((name) => name.startsWith(line))
  const editor = lineEditor(keys, { output, history, complete, signal: controller.signal })
  return { editor, output, modes, controller, type: (text: string) => emitter.emit('data', Buffer.from(text)) }
}

describe('lineEditor', () => {
  test('reads lines, with history and completion', async () => {
    const { editor, type } = typing(['newer', 'older'])
    const first = editor.read('> ')
    type('\u001b[A\u001b[A\r')
    expect(await first).toEqual({ kind: 'line', text: 'older' })
    const second = editor.read('> ')
    type('/mo')
    type('\t')
    type(' gpt\r')
    expect(await second).toEqual({ kind: 'line', text: '/model gpt' })
    editor.close()
  })

  test('shows a place for pasted lines, and reads what was pasted, without control characters', async () => {
    const { editor, output, type } = typing()
    const line = editor.read('> ')
    type('see \u001b[200~a\u001b[2J\tb\r\nc\r\n\u001b[201~')
    type('!\r')
    expect(await line).toEqual({ kind: 'line', text: 'see a[2J\tb\nc!' })
    expect(output.text).toContain('see [pasted text 1: 2 lines]')
    expect(output.text).not.toContain('\u001b[2J')
    editor.close()
  })

  test('puts a short paste into the line', async () => {
    const { editor, type } = typing()
    const line = editor.read('> ')
    type('\u001b[200~short\u001b[201~')
    type('\r')
    expect(await line).toEqual({ kind: 'line', text: 'short' })
    editor.close()
  })

  test('clears a line by Ctrl-C, and reports it in an empty one', async () => {
    const { editor, type } = typing()
    const line = editor.read('> ')
    type('half\u0003')
    type('\u0003')
    expect(await line).toEqual({ kind: 'interrupted' })
    editor.close()
  })

  test('passes only Ctrl-C on while an answer arrives', async () => {
    const { editor, type } = typing()
    const work = Promise.withResolvers<string>()
    let interrupts = 0
    const busy = editor.whileBusy(work.promise, () => interrupts++)
    type('dropped\r')
    type('\u0003')
    work.resolve('done')
    expect([await busy, interrupts]).toEqual(['done', 1])
    const line = editor.read('> ')
    type('\u0003')
    expect([await line, interrupts]).toEqual([{ kind: 'interrupted' }, 1])
    editor.close()
  })

  test.each([
    ['Ctrl-D', ({ type }: ReturnType<typeof typing>) => type('\u0004')],
    ['the signal', ({ controller }: ReturnType<typeof typing>) => controller.abort()],
  ])('ends by %s, and gives the terminal back', async (_, end) => {
    const terminal = typing()
    const line = terminal.editor.read('> ')
    end(terminal)
    expect(await line).toEqual({ kind: 'end' })
    terminal.editor.close()
    expect(terminal.modes).toEqual([true, false])
    expect(terminal.output.text).toEndWith('\u001b[?2004l')
    expect(await terminal.editor.read('> ')).toEqual({ kind: 'end' })
  })
})

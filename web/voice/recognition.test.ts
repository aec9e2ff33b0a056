import { describe, expect, test } from 'bun:test'
import { dictate, type Recognition } from './recognition.ts'

interface Scene {
  readonly recognition: Recognition & { calls: string[] }
  field: string
  readonly ends: (string | undefined)[]
  stop: () => void
  /** Results as [transcript, isFinal]. */
  hear(index: number, ...results: readonly (readonly [string, boolean])[]): void
}

function scene(field = '', start: () => void = () => undefined): Scene {
  const calls: string[] = []
  const recognition = {
    calls,
    ...{ lang: '', continuous: false, interimResults: false, onresult: null, onerror: null, onend: null },
    start() {
      calls.push('start')
      start()
    },
    abort: () => void calls.push('abort'),
  } as Scene['recognition']
  const found: Scene = {
    recognition,
    field,
    ends: [],
    stop: () => undefined,
    hear(resultIndex, ...results) {
      recognition.onresult?.({
        resultIndex,
        results: results.map(([transcript, isFinal]) => ({ isFinal, 0: { transcript } })),
      })
    },
  }
  found.stop = dictate({
    recognition,
    text: () => found.field,
    onText: (text) => {
      found.field = text
    },
    onEnd: (fault) => found.ends.push(fault),
  })
  return found
}

describe('dictation', () => {
  test('writes after the text, and replaces what was not final', () => {
    const each = scene('Hello')
    each.hear(0, ['wor', false])
    expect(each.field).toBe('Hello wor')
    each.hear(0, ['world', true])
    each.hear(1, ['world', true], ['and', false], [' more', false])
    expect(each.field).toBe('Hello world and more')
    each.hear(1, ['world', true], [' and more ', true])
    expect(each.field).toBe('Hello world and more')
  })

  test('keeps what was typed meanwhile', () => {
    const each = scene('')
    each.hear(0, ['one', true])
    each.field = 'One!\n'
    each.hear(1, ['one', true], ['two', true])
    expect(each.field).toBe('One!\ntwo')
  })

  test('ends once, with the reason in words', () => {
    const each = scene()
    each.recognition.onerror?.({ error: 'not-allowed' })
    each.recognition.onend?.()
    each.recognition.onend?.()
    expect(each.ends).toEqual(['The microphone is not allowed for this page. Allow it in the settings of the browser.'])
    const other = scene()
    other.recognition.onerror?.({ error: 'x'.repeat(999) })
    other.recognition.onend?.()
    expect(other.ends).toEqual([`Dictation ended: ${'x'.repeat(60)}.`])
  })

  test('ends when it cannot begin, and writes nothing after its stop', () => {
    const broken = scene('', () => {
      throw new Error('not here')
    })
    expect(broken.ends).toEqual(['not here'])
    const each = scene('a')
    each.stop()
    each.hear(0, ['b', true])
    each.recognition.onend?.()
    expect([each.field, each.ends, each.recognition.calls]).toEqual(['a', [], ['start', 'abort']])
  })
})

import { describe, expect, test } from 'bun:test'
import schema from '../../schema/presets.schema.json' with { type: 'json' }
import { parseConversation } from '../history/parse-conversation.ts'
import { conversationOf } from '../history/testing.ts'
import { parameters } from '../parameters/parameters.ts'
import {
  asConversation,
  filled,
  fromConversation,
  matching,
  nameFrom,
  nameLengthMax,
  settingsOf,
  sharedPreset,
  summaryOf,
  textLengthMax,
  variablesOf,
  type Preset,
} from './preset.ts'

const preset: Preset = {
  name: 'translate',
  model: 'gpt',
  system: 'You translate into {{language}}.',
  prompt: 'Into {{ language }}: {{the text}}',
  parameters: { temperature: 0 },
  isShared: false,
}

describe('a preset', () => {
  test('is stored as a conversation, and read again', () => {
    const stored = asConversation(preset, 'c1', 1_000)
    expect(parseConversation(stored).kind).toBe('ok')
    expect(fromConversation(stored)).toEqual({ ...preset, id: 'c1' })
    const bare: Preset = { name: 'bare', isShared: false }
    expect(fromConversation(asConversation(bare, 'c2', 1_000))).toEqual({ ...bare, id: 'c2' })
  })

  test('is made of any conversation, within bounds', () => {
    expect(fromConversation(conversationOf({ title: '<b>What is a monad?</b> / …' }))).toMatchObject({
      name: 'b-What-is-a-monad-b',
      prompt: 'What is a monad?',
      system: 'Be brief',
      parameters: { temperature: 0.5, stop: ['.'] },
    })
    const huge = conversationOf({
      title: '…',
      settings: { system: 'x'.repeat(99_999), parameters: { temperature: 99 } },
      messages: [{ role: 'user', id: 'm', time: 0, text: 'y'.repeat(99_999), images: [] }],
    })
    const found = fromConversation(huge)
    expect([found.name, found.system?.length, found.prompt?.length, found.parameters]).toEqual([
      'preset',
      textLengthMax,
      textLengthMax,
      undefined,
    ])
  })

  test('of the service is read without parameters that the page does not have', () => {
    expect(sharedPreset({ name: 'a', parameters: { temperature: 9, seed: 1, tools: [] } })).toEqual({
      name: 'a',
      parameters: { seed: 1 },
      isShared: true,
    })
  })

  test('has the parameters of the page in its schema, with their ranges', () => {
    const described: Readonly<Record<string, object>> = schema.$defs.preset.properties.parameters.properties
    expect(Object.keys(described).toSorted()).toEqual(Object.keys(parameters).toSorted())
    for (const parameter of Object.values(parameters)) {
      if (parameter.kind !== 'number' || !('range' in parameter)) continue
      const { min: minimum, max: maximum } = parameter.range
      expect(described[parameter.name]).toMatchObject({ minimum, maximum })
    }
  })

  test.each([
    ['Be brief!', 'Be-brief'],
    ['  /übersetze nach DE ', 'übersetze-nach-DE'],
    ['--a--', 'a'],
    ['…', ''],
    ['x'.repeat(99), 'x'.repeat(nameLengthMax)],
    ['a\u202eb', 'ab'],
  ])('has a name of the text %p: %p', (text, name) => {
    expect(nameFrom(text)).toBe(name)
  })

  test('is found by the beginning of its name first', () => {
    const named = (name: string): Preset => ({ name, isShared: false })
    const all = ['reTranslate', 'translate', 'brief'].map(named)
    expect(matching(all, 'TRANS').map(({ name }) => name)).toEqual(['translate', 'reTranslate'])
    expect(matching(all, '').length).toBe(3)
  })

  test('is summed up in one line', () => {
    expect(summaryOf({ ...preset, prompt: 'Two\nlines' })).toBe('Two lines · gpt · 1 parameter')
  })
})

describe('the variables of a preset', () => {
  test('are named once, those of the message first', () => {
    expect(variablesOf(preset)).toEqual(['language', 'the text'])
    expect(variablesOf({ name: 'a', prompt: '{{}} {{ }} {a} {{a{{b}} {{<i>}} {{ü}}', isShared: false })).toEqual([
      'b',
      'ü',
    ])
  })

  test('are replaced in message and system prompt, and values are not searched again', () => {
    const values = new Map([
      ['language', '{{the text}} $&'],
      ['the text', 'Hello'],
    ])
    expect(filled(preset.prompt ?? '', values)).toBe('Into {{the text}} $&: Hello')
    expect(settingsOf(preset, values)).toEqual({
      model: 'gpt',
      system: 'You translate into {{the text}} $&.',
      parameters: { temperature: 0 },
    })
    expect(settingsOf({ name: 'a', prompt: 'x', isShared: false }, values)).toEqual({})
  })

  test('are at most twenty, and found in a long text at once', () => {
    const many = Array.from({ length: 30 }, (_, index) => `{{v${index}}}`).join(' ')
    expect(variablesOf({ name: 'a', prompt: many, isShared: false }).length).toBe(20)
    const started = performance.now()
    variablesOf({ name: 'a', prompt: '{{ '.repeat(10_000), system: `{{${'a '.repeat(15_000)}`, isShared: false })
    expect(performance.now() - started).toBeLessThan(200)
  })
})

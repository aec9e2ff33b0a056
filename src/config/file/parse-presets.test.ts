import { describe, expect, test } from 'bun:test'
import presetsSchema from '../../../schema/presets.schema.json' with { type: 'json' }
import { ConfigError } from '../config.ts'
import { configBytesMax } from './parse-config.ts'
import { parsePresets, presetsMax } from './parse-presets.ts'
import { validatorOf } from './testing.ts'

function faultsOf(text: string): string {
  try {
    parsePresets(text, 'presets.json')
    return ''
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

const isValid = validatorOf(presetsSchema)
const preset = (members: object, name = 'a'): string => JSON.stringify({ presets: { [name]: members } })

describe('presets.json', () => {
  test('has presets in the order of the file, with comments', () => {
    const text = `{
      "$schema": "presets.schema.json",
      "presets": {
        "translate": { // two variables
          "description": "Translates a text",
          "model": "openai/gpt-5",
          "system": "You translate.\\nOnly the text.",
          "prompt": "Into {{language}}: {{text}}",
          "parameters": { "temperature": 0, "stop": ["END"], "reasoning_effort": "low", "stream": false },
        },
        "Überblick": {},
      },
    }`
    expect(parsePresets(text, 'presets.json')).toEqual([
      {
        name: 'translate',
        description: 'Translates a text',
        model: 'openai/gpt-5',
        system: 'You translate.\nOnly the text.',
        prompt: 'Into {{language}}: {{text}}',
        parameters: { temperature: 0, stop: ['END'], reasoning_effort: 'low', stream: false },
      },
      { name: 'Überblick' },
    ])
  })

  test('may be missing', () => {
    expect(parsePresets(undefined, 'presets.json')).toEqual([])
  })

  const refused: readonly (readonly [string, string])[] = [
    ['[]', 'presets.json:1:1: found an array, allowed: an object'],
    ['{}', 'presets.json:1:1: presets: found nothing, allowed: this field is required'],
    ['{"presets":[]}', 'presets.json:1:12: presets: found an array, allowed: an object'],
    ['{"presets":{"a":1}}', 'presets.a: found 1, allowed: an object'],
    [preset({}, '<b>x</b>'), 'found an invalid name, allowed: a name of letters, digits'],
    [preset({}, 'two words'), 'found an invalid name'],
    [preset({}, ''), 'found an invalid name'],
    [preset({}, 'x'.repeat(41)), 'found an invalid name'],
    [preset({}, '-a'), 'found an invalid name'],
    ['{"presets":{"__proto__":{}}}', 'the name "__proto__"'],
    ['{"presets":{"a":{},"a":{}}}', 'a duplicate field'],
    [preset({ sytem: '' }), 'presets.a.sytem: found an unknown field'],
    [preset({ description: 'a\nb' }), 'presets.a.description: found "a\\nb", allowed: a text in one line'],
    [preset({ description: 'x'.repeat(201) }), '201 characters, allowed: at most 200'],
    [preset({ system: 'x'.repeat(32_001) }), '32001 characters, allowed: at most 32000'],
    [preset({ prompt: 5 }), 'presets.a.prompt: found 5, allowed: a text'],
    [preset({ model: ' ' }), 'presets.a.model: found " ", allowed: a model name'],
    [preset({ parameters: { temperature: 3 } }), 'parameters.temperature: found 3, allowed: a number from 0 to 2'],
    [preset({ parameters: { seed: 1.5 } }), 'parameters.seed: found 1.5, allowed: an integer'],
    [preset({ parameters: { stop: [''] } }), 'parameters.stop[0]: found "", allowed: a text'],
    [preset({ parameters: { stop: Array.from({ length: 17 }, () => 'x') } }), 'allowed: at most 16 texts'],
    [preset({ parameters: { reasoning_effort: 'hihg' } }), 'did you mean'],
    [preset({ parameters: { messages: [] } }), 'presets.a.parameters.messages: found an unknown field'],
    [preset({ parameters: { toString: 1 } }), 'found an unknown field'],
  ]
  test.each(refused)('is refused as a whole: %p', (text, message) => {
    expect(faultsOf(text)).toContain(message)
    if (!text.includes('"__proto__"') && !text.includes('"a":{},"a":{}')) expect(isValid(JSON.parse(text))).toBe(false)
  })

  test('is refused with too many presets, and as a text that is too deep or too large', () => {
    const many = Array.from({ length: presetsMax + 1 }, (_, index) => [`p${index}`, {}])
    expect(faultsOf(JSON.stringify({ presets: Object.fromEntries(many) }))).toContain(
      '201 presets, allowed: at most 200',
    )
    expect(faultsOf('{"presets":'.repeat(50_000))).not.toBe('')
    expect(faultsOf(preset({ system: 'x'.repeat(configBytesMax) }))).toContain('at most 32000')
  })

  test('is described by its schema', () => {
    for (const members of [
      {},
      { description: '', model: 'a/b', system: '', prompt: 'x', parameters: {} },
      { parameters: { temperature: 2, top_p: 1, seed: -1, stop: 'x', top_logprobs: 20, logprobs: true } },
    ]) {
      expect([faultsOf(preset(members)), isValid(JSON.parse(preset(members)))]).toEqual(['', true])
    }
  })
})

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { editConfig } from '../../src/config/edit/edit-config.ts'
import { editSettings as editWith, SettingsError, type Setting, type SettingsLanguage } from './edit-settings.ts'

const editSettings = (language: SettingsLanguage, text: string, settings: readonly Setting[]) =>
  editWith(language, text, settings, editConfig)

const two: readonly Setting[] = [
  { path: ['model'], value: 'm "1"' },
  { path: ['a', 'svc', 'url'], value: 'http://127.0.0.1:8000' },
]
const one: readonly Setting[] = [{ path: ['model'], value: 'm1' }]

describe('a settings file', () => {
  const cases: readonly (readonly [string, SettingsLanguage, string, readonly Setting[], string])[] = [
    ['new', 'json', '', one, '{\n  "model": "m1"\n}\n'],
    [
      'with comments',
      'json',
      '{\n  // mine\n  "model": "old", /* why */\n  "a": { "other": 1 },\n}\n',
      two,
      '{\n  // mine\n  "model": "m \\"1\\"", /* why */\n' +
        '  "a": {\n    "other": 1,\n    "svc": {\n      "url": "http://127.0.0.1:8000"\n    }\n  },\n}\n',
    ],
    ['new', 'toml', '', two, 'model = "m \\"1\\""\n\n[a.svc]\nurl = "http://127.0.0.1:8000"\n'],
    [
      'with tables',
      'toml',
      '# mine\nmodel = "old"\nx = [1]\n\n[a."svc"] # here\nname = "n"\nurl="u"\n\n[b]\nmodel = "stays"\n',
      two,
      '# mine\nmodel = "m \\"1\\""\nx = [1]\n\n' +
        '[a."svc"] # here\nname = "n"\nurl = "http://127.0.0.1:8000"\n\n[b]\nmodel = "stays"\n',
    ],
    ['that begins with a table', 'toml', '[b]\nc = 1', one, 'model = "m1"\n[b]\nc = 1\n'],
    [
      'with other values',
      'yaml',
      '# mine\nlist:\n  - model: x\nmodel: old\n',
      one,
      '# mine\nlist:\n  - model: x\nmodel: "m1"\n',
    ],
    ['of lines', 'env', '# mine\nexport model=old\nX=1\n', one, '# mine\nmodel="m1"\nX=1\n'],
  ]
  test.each(cases)('%s, in %s', (_, language, before, settings, after) => {
    const changed = editSettings(language, before, settings)
    expect(changed).toBe(after)
    expect(editSettings(language, changed, settings)).toBe(changed)
  })

  test.each<readonly [SettingsLanguage, string, readonly Setting[]]>([
    ['json', '{', one],
    ['json', '[]', one],
    ['json', '{"a": "text"}', two],
    ['toml', 'model = ', one],
    ['toml', 'x = """\nmodel = "old"\n"""\n', one],
    ['toml', 'a = { svc = { url = "u" } }\n', two],
    ['yaml', '- a\n', one],
    ['yaml', 'x: |\n  text\n model: y\n', one],
  ])('that cannot be changed without harm is refused: %s %j', (language, before, settings) => {
    expect(() => editSettings(language, before, settings)).toThrow(SettingsError)
  })

  test('has the settings, and all of its other values, or is refused', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.array(fc.string(), { maxLength: 2 }))
    const name = fc.constantFrom('model', 'b', 'svc', 'x y')
    const object = fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value, { maxKeys: 2 })), { maxKeys: 3 })
    const setting = fc.record({ path: fc.constantFrom<Setting['path']>(['model'], ['b']), value: fc.string() })
    fc.assert(
      fc.property(object, setting, fc.constantFrom<SettingsLanguage>('json', 'yaml'), (before, wanted, language) => {
        const text = language === 'json' ? JSON.stringify(before) : Bun.YAML.stringify(before, null, 2)
        try {
          const changed = editSettings(language, text, [wanted])
          const read: unknown = language === 'json' ? JSON.parse(changed) : Bun.YAML.parse(changed)
          expect(read).toEqual({ ...before, [wanted.path[0]]: wanted.value })
        } catch (error) {
          expect(error).toBeInstanceOf(SettingsError)
          expect(language).toBe('yaml')
        }
      }),
    )
  })
})

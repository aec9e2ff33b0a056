import { describe, expect, test } from 'bun:test'
import schema from '../../schema/providers.schema.json' with { type: 'json' }
import { ConfigError } from './config.ts'
import { parseConfig } from './file/parse-config.ts'

const docs = await Bun.file(new URL('../../docs/configuration.md', import.meta.url)).text()

const pricesDocs = await Bun.file(new URL('../../docs/prices.md', import.meta.url)).text()

const providersDocs = await Bun.file(new URL('../../docs/providers.md', import.meta.url)).text()

function blocks(language: string, text = docs): readonly string[] {
  return Array.from(
    text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm')),
    (match) => match[1] ?? '',
  )
}

function errorOf(text: string): string {
  try {
    parseConfig(text, { file: 'providers.json', environment: {} })
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('docs/configuration.md', () => {
  test('names every field, with docs/prices.md for prices', () => {
    const fields = [
      ...Object.keys(schema.properties),
      ...Object.keys(schema.properties.limits.properties),
      ...Object.keys(schema.properties.failover.properties),
      ...Object.keys(schema.$defs.provider.properties),
      ...Object.keys(schema.$defs.provider.properties.timeouts.properties),
      ...Object.keys(schema.$defs.model.properties),
    ]
    const ofPrices = [schema.$defs.price, schema.$defs.priceStep].flatMap(({ properties }) => Object.keys(properties))
    expect(fields.filter((field) => !docs.includes(`\`${field}\``))).toEqual([])
    expect(ofPrices.filter((field) => !pricesDocs.includes(`\`${field}\``))).toEqual([])
  })

  test('names every word that a field may have', () => {
    const { properties: top, $defs } = schema
    const words = [
      ...top.failover.properties.on_content_policy.enum,
      ...top.failover.properties.on_cut.enum,
      ...$defs.provider.properties.protocol.enum,
      ...$defs.provider.properties.reasoning_history.enum,
      ...$defs.provider.properties.formats.items.enum,
      ...$defs.model.properties.input.items.enum,
    ]
    expect(words.filter((word) => !docs.includes(`\`${word}\``) && !docs.includes(`\`"${word}"\``))).toEqual([])
  })

  test.each([...blocks('jsonc'), ...blocks('jsonc', providersDocs)].map((text) => [text]))(
    'shows valid files only: %s',
    (text) => {
      expect(errorOf(text)).toBe('')
    },
  )

  test('shows the faults of its faulty file as the service reports them', () => {
    const [faulty = ''] = blocks('json')
    const [told = ''] = blocks('text').filter((text) => text.startsWith('providers.json:'))
    expect(errorOf(faulty)).toBe(told.trimEnd())
  })
})

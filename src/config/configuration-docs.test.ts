import { describe, expect, test } from 'bun:test'
import schema from '../../schema/providers.schema.json' with { type: 'json' }
import type { Brand } from './brand.ts'
import { brands } from './catalogue.ts'
import { ConfigError } from './config.ts'
import { parseConfig } from './file/parse-config.ts'

const docs = await Bun.file(new URL('../../docs/configuration.md', import.meta.url)).text()

function blocks(language: string): readonly string[] {
  return Array.from(
    docs.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm')),
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

/** A brand's line in the table. */
function row({ id, name, protocol, baseUrl, keys, freeTier, models, quirks }: Brand): string {
  const notes = [
    ...(protocol === 'openai' ? [] : [`protocol \`${protocol}\``]),
    ...(freeTier === undefined ? [] : ['free tier']),
    ...(models === undefined ? [] : [`models ${models.map((model) => `\`${model}\``).join(', ')}`]),
    ...Object.entries(quirks.rename).map(([ours, theirs]) => `\`${ours}\` is sent as \`${theirs}\``),
    ...quirks.drop.map((field) => `\`${field}\` is left out`),
    ...(quirks.streamUsage ? ['usage of streams is asked for'] : []),
    ...(quirks.reasoning === 'keep' ? [] : [`\`reasoning_history\` is \`${quirks.reasoning}\``]),
    ...(quirks.continuation ? ['continues a broken stream'] : []),
  ]
  const cells = [
    `\`${id}\``,
    name,
    baseUrl === '' ? '' : `\`${baseUrl}\``,
    keys.map((key) => `\`${key}\``).join(', ') || 'none',
    notes.join('; '),
  ]
  return `| ${cells.join(' | ')} |`.replaceAll('  ', ' ')
}

describe('docs/configuration.md', () => {
  test('lists the brands as the catalogue has them', () => {
    const table = docs.slice(
      docs.indexOf('<!-- brands -->') + '<!-- brands -->'.length,
      docs.indexOf('<!-- end of brands -->'),
    )
    expect(table.trim().split('\n').slice(2)).toEqual(brands.map(row))
  })

  test('names every field', () => {
    const fields = [
      ...Object.keys(schema.properties),
      ...Object.keys(schema.properties.limits.properties),
      ...Object.keys(schema.properties.failover.properties),
      ...Object.keys(schema.$defs.provider.properties),
      ...Object.keys(schema.$defs.provider.properties.timeouts.properties),
      ...Object.keys(schema.$defs.model.properties),
      ...Object.keys(schema.$defs.model.properties.price.properties),
    ]
    expect(fields.filter((field) => !docs.includes(`\`${field}\``))).toEqual([])
  })

  test.each(blocks('jsonc').map((text) => [text]))('shows valid files only: %s', (text) => {
    expect(errorOf(text)).toBe('')
  })

  test('shows the faults of its faulty file as the service reports them', () => {
    const [faulty = ''] = blocks('json')
    const [told = ''] = blocks('text').filter((text) => text.startsWith('providers.json:'))
    expect(errorOf(faulty)).toBe(told.trimEnd())
  })
})

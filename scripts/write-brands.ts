import { isRecord, type JsonObject } from '../src/base/json-value.ts'
import type { Brand } from '../src/config/brand.ts'
import { brands } from '../src/config/catalogue.ts'
import { profileAt } from '../src/profiles/resolve-profile.ts'
import { withSection, writeFiles, type WrittenFile } from './write-section.ts'

/** `npm run brands`: writes the brands of `src/config/catalogue.ts` into the files that list them. */

/** All files that list the brands. */
export const brandLists: readonly WrittenFile[] = [
  { file: 'schema/providers.schema.json', updated: withBrandIds },
  { file: 'docs/configuration.md', updated: (text) => withSection(text, 'brands', brandTable()) },
]

/** Replaces the ids in the JSON Schema: those that are allowed, and those that editors suggest for `id`. */
function withBrandIds(text: string): string {
  const schema: unknown = JSON.parse(text)
  const ids = brands.map(({ id }) => id)
  const withIds = replaced(replaced(schema, ids, '$defs', 'brandId', 'enum'), ids, ...exampleIds)
  return `${JSON.stringify(withIds, undefined, 2)}\n`
}

const exampleIds = ['$defs', 'provider', 'properties', 'id', 'examples']

/** A copy of the value with another member at a path. @throws when the path is not there */
export function replaced(value: unknown, member: unknown, ...[name = '', ...path]: readonly string[]): JsonObject {
  if (!isRecord(value) || !Object.hasOwn(value, name)) throw new Error(`the schema has no ${name}`)
  return { ...value, [name]: path.length === 0 ? member : replaced(value[name], member, ...path) }
}

function brandTable(): string {
  return ['| `id` | Provider | Base URL | Key in | |', '|---|---|---|---|---|', ...brands.map(row)].join('\n')
}

/** A brand's line in the table. */
function row({ id, name, protocol, baseUrl, keys, freeTier, models, quirks }: Brand): string {
  const profile = profileAt({ brand: id, protocol, model: '' })
  const notes = [
    ...(protocol === 'openai' ? [] : [`protocol \`${protocol}\``]),
    ...(freeTier === undefined ? [] : ['free tier']),
    ...(models === undefined ? [] : [`models ${models.map((model) => `\`${model}\``).join(', ')}`]),
    ...Object.entries(profile.rename).map(([ours, theirs]) => `\`${ours}\` is sent as \`${theirs}\``),
    ...profile.drop.map((field) => `\`${field}\` is left out`),
    ...(profile.streamUsage ? ['usage of streams is asked for'] : []),
    ...(profile.reasoning === 'keep' ? [] : [`\`reasoning_history\` is \`${profile.reasoning}\``]),
    ...(profile.prefill === 'continued' ? ['continues a broken stream'] : []),
    ...quirks.formats.map((format) => `\`formats\` has \`${format}\``),
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

if (import.meta.main) await writeFiles(brandLists)

import { isRecord, type JsonObject } from '../src/base/json-value.ts'
import { brandIds } from '../src/config/catalogue.ts'
import { accessFileShape } from '../src/config/file/parse-access.ts'
import { providersFile } from '../src/config/file/parse-config.ts'
import { presetShape, presetsFileShape } from '../src/config/file/parse-presets.ts'
import { pricesFileShape } from '../src/config/file/parse-prices.ts'
import { brandShape, modelShape, providerShape } from '../src/config/file/parse-provider.ts'
import { fullPriceShape, stepShape, tierShape } from '../src/config/file/read-price.ts'
import { profileMember, profileShape, sentName } from '../src/config/file/read-profile.ts'
import { modelName } from '../src/config/file/rules.ts'
import type { ValueShape } from '../src/shapes/shape.ts'
import wordsOfFields from './schema-words.json' with { type: 'json' }
import { apiDescription } from './write-openapi.ts'
import { fieldMeanings } from './write-profiles.ts'
import { writeFiles, type WrittenFile } from './write-section.ts'

/**
 * `npm run schema`: writes the JSON Schemas of the configuration files from the tables that read them, and the
 * description of the API (`write-openapi.ts`). What a field means stands in `schema-words.json`, by its file or
 * definition and its name, and for profiles in the doc comments of `src/profiles/profile.ts`.
 */

type Definitions = Readonly<Record<string, ValueShape<unknown>>>

/** Shapes that are named in the schema of providers.json. */
const ofProviders: Definitions = {
  modelName,
  brandId: brandShape,
  provider: providerShape,
  model: modelShape,
  price: fullPriceShape,
  tierPrice: tierShape,
  priceStep: stepShape,
  sentName,
  profile: profileShape,
}

const words = new Map<string, unknown>([
  ...Object.entries(wordsOfFields),
  ...Array.from(
    fieldMeanings(),
    ([name, text]) => [`profile.${profileMember(name)}`, text.replaceAll('`', '')] as const,
  ),
])

/** The description of a field, and its default and examples. @throws without one */
function wordsAt(path: string): JsonObject {
  const found = words.get(path)
  const [, name] = /^(?:tierPrice|priceStep)\.(\w+)$/.exec(path) ?? []
  if (found === undefined && name !== undefined) return { description: `Instead of the ${name} of the price.` }
  if (typeof found === 'string') return { description: found }
  if (isRecord(found)) return found
  // Fields of a request, which docs/api.md describes.
  if (path.startsWith('preset.parameters.')) return {}
  throw new Error(`scripts/schema-words.json has no description of ${path}`)
}

/** Writes shapes. @param references to shapes with a name */
function writerOf(references: ReadonlyMap<ValueShape<unknown>, string>) {
  return function write(shape: ValueShape<unknown>, path: string): JsonObject {
    return shape.schema((inner, member) => {
      const at = member === undefined ? path : `${path}.${member}`
      const reference = references.get(inner)
      const schema = reference === undefined ? write(inner, at) : { $ref: reference }
      return member === undefined ? schema : { ...wordsAt(at), ...schema }
    })
  }
}

interface WrittenSchema {
  readonly shape: ValueShape<unknown>
  readonly definitions?: Definitions
  /** Of another file. */
  readonly references?: Readonly<Record<string, ValueShape<unknown>>>
}

function schemaFile(name: string, { shape, definitions = {}, references = {} }: WrittenSchema): WrittenFile {
  const named = Object.entries(definitions).map(([key, value]) => [value, `#/$defs/${key}`] as const)
  const others = Object.entries(references).map(([key, value]) => [value, key] as const)
  const write = writerOf(new Map([...named, ...others]))
  const defined = Object.entries(definitions).map(([key, value]) => [
    key,
    { ...(words.has(key) ? wordsAt(key) : {}), ...write(value, key) },
  ])
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...wordsAt(name),
    allowTrailingCommas: true,
    allowComments: true,
    ...write(shape, name),
    ...(defined.length === 0 ? {} : { $defs: Object.fromEntries(defined) }),
  }
  const text = `${JSON.stringify(schema, undefined, 2)}\n`
  return { file: `schema/${name}.schema.json`, updated: () => text }
}

words.set('provider.id', { ...wordsAt('provider.id'), examples: brandIds })

export const schemas: readonly WrittenFile[] = [
  schemaFile('providers', { shape: providersFile, definitions: ofProviders }),
  schemaFile('access', { shape: accessFileShape({ teams: [], keys: [] }) }),
  schemaFile('presets', { shape: presetsFileShape, definitions: { preset: presetShape } }),
  schemaFile('prices', {
    shape: pricesFileShape,
    references: { 'providers.schema.json#/$defs/price': fullPriceShape },
  }),
  apiDescription,
]

if (import.meta.main) await writeFiles(schemas)

import { findBrand } from './catalogue.ts'
import type { Config, ProviderConfig } from './config.ts'
import { readVariable, type Environment } from './resolve-provider.ts'

/** What the first configuration file is made from. */
export interface InitialOptions {
  readonly environment: Environment
  /** Address of the JSON Schema for `$schema`: absolute, or relative to the file. */
  readonly schema: string
}

/**
 * The text of a first configuration file: what was found on this machine, in that order, and examples to uncomment.
 * Keys are named, never written. It reads back as the same providers.
 */
export function initialConfig(detected: Config, { environment, schema }: InitialOptions): string {
  const found = detected.providers.map((provider) => describeEntry(provider, environment))
  const present = new Set(detected.providers.map((provider) => provider.id))
  const examples = exampleLines.filter(({ id }) => !present.has(id)).map(({ line }) => `    // ${line},`)
  return `{
  "$schema": ${JSON.stringify(schema)},

  // Tried from the first to the last: the order is yours. docs/configuration.md explains every field.
  // "$NAME" stands for an environment variable; keys need not be written here.
  "providers": [
${found.join('\n')}

${examples.join('\n')}
  ],

  // Other names for models, such as "gpt-4o": "llama-3.3-70b-versatile".
  "aliases": {},
}
`
}

const exampleLines: readonly { readonly id: string; readonly line: string }[] = [
  { id: 'ollama', line: '{ "id": "ollama" }' },
  { id: 'groq', line: '{ "id": "groq", "api_key": "$GROQ_API_KEY" }' },
  { id: 'openai', line: '{ "id": "openai", "api_key": "$OPENAI_API_KEY", "models": ["gpt-4o", "gpt-4o-mini"] }' },
  {
    id: 'my-server',
    line: '{ "id": "my-server", "base_url": "http://127.0.0.1:9000/v1", "api_key": "$MY_SERVER_KEY" }',
  },
]

function describeEntry(provider: ProviderConfig, environment: Environment): string {
  const brand = findBrand(provider.brand ?? provider.id)
  const variable = brand?.keys.find((name) => readVariable(environment, name) !== undefined)
  const fields = { id: provider.id, ...(variable === undefined ? {} : { api_key: `$${variable}` }) }
  const members = Object.entries(fields).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `    // ${whyFound(provider, brand?.port, variable)}\n    { ${members.join(', ')} },`
}

function whyFound(provider: ProviderConfig, port: number | undefined, variable: string | undefined): string {
  const name = findBrand(provider.brand ?? provider.id)?.name ?? provider.id
  if (port !== undefined) return `${name}: answers on this machine at port ${port}`
  if (variable !== undefined) return `${name}: its key is in the environment`
  return provider.protocol === 'echo'
    ? 'Answers with your own words: no provider was found. Put a real one before it, or in its place'
    : name
}

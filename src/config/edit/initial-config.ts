import { findBrand } from '../catalogue.ts'
import type { Config, ProviderConfig } from '../config.ts'
import { readVariable, type Environment } from '../file/environment.ts'

export interface InitialOptions {
  readonly environment: Environment
  /** Address of the JSON Schema for `$schema`: absolute, or relative to the file. Absent: none. */
  readonly schema?: string
}

/**
 * Writes the text of a first configuration file: the detected providers in their order, and examples to uncomment. Keys
 * are given by variable name, never by value. The text parses to the same providers.
 */
export function initialConfig(detected: Config, { environment, schema }: InitialOptions): string {
  const found = detected.providers.map((provider) => describeEntry(provider, environment))
  const present = new Set(detected.providers.map((provider) => provider.id))
  const examples = exampleLines.filter(({ id }) => !present.has(id)).map(({ line }) => `    // ${line},`)
  const first = schema === undefined ? '' : `  "$schema": ${JSON.stringify(schema)},\n\n`
  return `{
${first}  // Tried from the first to the last: the order is yours. docs/configuration.md explains every field.
  // "$NAME" stands for an environment variable, so that keys are not written here.
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
  const note = brand?.freeTier === undefined ? '' : ' (it has a free tier)'
  return `    // ${whyFound(provider, brand?.port, variable)}${note}\n    { ${members.join(', ')} },`
}

function whyFound(provider: ProviderConfig, port: number | undefined, variable: string | undefined): string {
  const name = findBrand(provider.brand ?? provider.id)?.name ?? provider.id
  if (port !== undefined) return `${name}: answers on this machine at port ${port}`
  if (variable !== undefined) return `${name}: its key is in the environment`
  return provider.protocol === 'echo'
    ? 'Answers with your own message: no provider was found. Add a real one before it, or replace it'
    : name
}

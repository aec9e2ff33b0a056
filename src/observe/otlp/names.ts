/*
 * Names of the semantic conventions for generative AI, v0.1.0
 * (https://github.com/open-telemetry/semantic-conventions-genai), where they differ from those of svc.
 */

const systems: Readonly<Record<string, string>> = {
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  codestral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
}

/** The value of `gen_ai.provider.name` for a brand; of others, and of providers without one, it is their id. */
export function systemOf(brand: string): string {
  return systems[brand] ?? brand
}

const operations: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  gemini: 'generate_content',
  completions: 'text_completion',
  embeddings: 'embeddings',
  gemini_embed: 'embeddings',
  gemini_batch_embed: 'embeddings',
}

/** The value of `gen_ai.operation.name` for a format; it is the format where the conventions know no operation. */
export function operationOf(api: string): string {
  return operations[api] ?? api
}

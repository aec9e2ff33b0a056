/** How svc reaches what LiteLLM names by a prefix. */
export interface Prefix {
  readonly brand?: string
  readonly protocol?: 'anthropic' | 'gemini'
  /** LiteLLM's variable for the key, where it is not that of the brand. */
  readonly variable?: string
  /** It needs an address. */
  readonly isServer?: true
  /** Added to an address that has no such end. */
  readonly suffix?: string
}

const server: Prefix = { isServer: true }
const ollama: Prefix = { brand: 'ollama', isServer: true, suffix: '/v1' }

/** Prefixes of LiteLLM's models. Those of clouds with other protocols are not there: they are set up by hand. */
export const prefixes: Readonly<Record<string, Prefix>> = {
  openai: { brand: 'openai' },
  anthropic: { brand: 'anthropic', protocol: 'anthropic' },
  gemini: { brand: 'gemini', protocol: 'gemini' },
  groq: { brand: 'groq' },
  mistral: { brand: 'mistral' },
  codestral: { brand: 'codestral' },
  openrouter: { brand: 'openrouter' },
  together_ai: { brand: 'together', variable: 'TOGETHERAI_API_KEY' },
  xai: { brand: 'xai' },
  deepseek: { brand: 'deepseek' },
  fireworks_ai: { brand: 'fireworks', variable: 'FIREWORKS_AI_API_KEY' },
  cohere: { brand: 'cohere' },
  cohere_chat: { brand: 'cohere' },
  cerebras: { brand: 'cerebras' },
  sambanova: { brand: 'sambanova' },
  perplexity: { brand: 'perplexity', variable: 'PERPLEXITYAI_API_KEY' },
  nvidia_nim: { brand: 'nvidia', variable: 'NVIDIA_NIM_API_KEY' },
  deepinfra: { brand: 'deepinfra' },
  hyperbolic: { brand: 'hyperbolic' },
  novita: { brand: 'novita' },
  nebius: { brand: 'nebius' },
  moonshot: { brand: 'moonshot' },
  dashscope: { brand: 'dashscope' },
  zai: { brand: 'zai' },
  minimax: { brand: 'minimax' },
  vercel_ai_gateway: { brand: 'vercel', variable: 'VERCEL_AI_GATEWAY_API_KEY' },
  ollama,
  ollama_chat: ollama,
  hosted_vllm: server,
  vllm: server,
  lm_studio: server,
  llamafile: server,
  xinference: server,
  openai_like: server,
  custom_openai: server,
  litellm_proxy: server,
  docker_model_runner: server,
}

/** What LiteLLM guesses of a name without a prefix. */
const guesses: readonly (readonly [pattern: RegExp, prefix: string])[] = [
  [/^(?:gpt-|chatgpt-|o[134](?:-|$)|text-embedding-|omni-moderation|dall-e-|whisper-|tts-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'gemini'],
]

export function guessedPrefix(name: string): string | undefined {
  return guesses.find(([pattern]) => pattern.test(name))?.[1]
}

/** Beginnings of names of models, and their makers. */
const makers: readonly (readonly [names: RegExp, maker: string])[] = [
  [/^(?:chatgpt|gpt|o\d|codex|dall-e|whisper|text-embedding-)/i, 'OpenAI'],
  [/^claude/i, 'Anthropic'],
  [/^(?:gemini|gemma|imagen|veo)/i, 'Google'],
  [/^(?:meta-)?llama/i, 'Meta'],
  [/^(?:open-)?(?:\w*stral|mixtral)/i, 'Mistral'],
  [/^(?:qwen|qwq|qvq)/i, 'Qwen'],
  [/^deepseek/i, 'DeepSeek'],
  [/^grok/i, 'xAI'],
  [/^(?:command|c4ai|aya)/i, 'Cohere'],
  [/^phi-/i, 'Microsoft'],
  [/^(?:kimi|moonshot)/i, 'Moonshot'],
  [/^glm/i, 'Z.ai'],
  [/^minimax/i, 'MiniMax'],
  [/^nova-/i, 'Amazon'],
]

/** The maker of a model, as its name says it: by its own name, else before `/`. `undefined`: unknown. */
export function makerOf(name: string): string | undefined {
  const own = name.slice(name.lastIndexOf('/') + 1)
  const known = makers.find(([names]) => names.test(own))?.[1]
  const slash = name.indexOf('/')
  return known ?? (slash > 0 ? name.slice(0, slash) : undefined)
}

/** Abilities of one of Anthropic's models. */
export interface MessagesModel {
  /** Default of `max_tokens`, which the API requires. */
  readonly maxTokens: number
  /** Whether thinking is requested by a budget of tokens, or by an effort; `none`: the model does not think. */
  readonly thinking: 'none' | 'budget' | 'adaptive'
  /** Whether thinking can be switched off. */
  readonly mayNotThink: boolean
  /** Whether a JSON Schema of the answer is accepted. */
  readonly schemas: boolean
  /** Whether the effort `xhigh` is known. */
  readonly xhigh: boolean
}

const newest: MessagesModel = {
  maxTokens: 128_000,
  thinking: 'adaptive',
  mayNotThink: true,

  schemas: true,
  xhigh: true,
}

/** The first match counts. Source: Anthropic's documentation and Vercel's AI SDK, autumn 2026. */
const models: readonly (readonly [pattern: RegExp, model: MessagesModel])[] = [
  [/claude-(?:opus|sonnet)-5-5|claude-fable-5/, { ...newest, mayNotThink: false }],
  [/claude-(?:opus|sonnet|haiku)-5|claude-opus-4-[78]/, newest],
  [/claude-(?:opus|sonnet)-4-6/, { ...newest, xhigh: false }],
  [/claude-(?:opus|sonnet|haiku)-4-5/, { ...newest, maxTokens: 64_000, thinking: 'budget', xhigh: false }],
  [/claude-opus-4-1/, { ...newest, maxTokens: 32_000, thinking: 'budget', xhigh: false }],
  [
    /claude-(?:sonnet-4|3-7)/,
    { maxTokens: 64_000, thinking: 'budget', mayNotThink: true, schemas: false, xhigh: false },
  ],
  [/claude-opus-4/, { maxTokens: 32_000, thinking: 'budget', mayNotThink: true, schemas: false, xhigh: false }],
  [/claude-3-5/, { maxTokens: 8_192, thinking: 'none', mayNotThink: true, schemas: false, xhigh: false }],
  [/claude-(?:[123]|instant)/, { maxTokens: 4_096, thinking: 'none', mayNotThink: true, schemas: false, xhigh: false }],
  [/claude/, newest],
]

/** Models of other makers that speak the same protocol. */
const foreign: MessagesModel = {
  maxTokens: 8_192,
  thinking: 'budget',
  mayNotThink: true,

  schemas: false,
  xhigh: false,
}

/** Finds the abilities of a model by name, such as `claude-sonnet-4-5-20250929` or `anthropic/claude-sonnet-4.5`. */
export function messagesModel(name: string): MessagesModel {
  const normal = name.toLowerCase().replaceAll('.', '-')
  return models.find(([pattern]) => pattern.test(normal))?.[1] ?? foreign
}

import type { TargetProfile, ProfileEffort, SamplingRule } from './profile.ts'

/** Fields of a profile that hold for the targets that match. */
export interface ProfileEntry {
  readonly match: {
    /** Ids of brands (docs/configuration.md). */
    readonly brands?: readonly string[]
    readonly protocol?: string
    /** The provider's name for the model, in lower case. */
    readonly model?: RegExp
    /** Models that are excepted. */
    readonly except?: RegExp
  }
  /** The models in plain words, for docs/contributing/habits.md. Default: the pattern. */
  readonly models?: string
  /** Facts of the corpus that prove it: lines of `test/corpus/wire.jsonl`. */
  readonly facts: readonly string[]
  /** Documents, reports and sources of other clients that say so. */
  readonly sources: readonly string[]
  readonly profile: Partial<TargetProfile>
}

const refused: SamplingRule = 'refused'
const limitOf = { max_completion_tokens: 'max_tokens' }
const usualEfforts: readonly ProfileEffort[] = ['low', 'medium', 'high']

const cached512 = /claude-(?:opus|fable|mythos)-5/
const cached2048 = /claude-opus-4[-.]7/
const cached4096 = /claude-(?:opus-4[-.][56]|haiku-4[-.]5)/
/** Least tokens of a prompt that Anthropic caches. */
const cacheMinimums: readonly (readonly [tokens: number, model: RegExp, models: string, except?: RegExp])[] = [
  [512, cached512, 'Claude Opus, Fable and Mythos 5'],
  [2_048, cached2048, 'Claude Opus 4.7'],
  [4_096, cached4096, 'Claude Opus 4.5 and 4.6, Haiku 4.5'],
  [
    1_024,
    /claude/,
    'other Claude models',
    new RegExp([cached512, cached2048, cached4096].map(({ source }) => source).join('|')),
  ],
]

/**
 * Entries in the order in which they are combined: families of models at all hosts, hosts with all models, models at
 * hosts. docs/contributing/quirk.md says how to add one.
 */
export const knownProfiles: readonly ProfileEntry[] = [
  // Families of models at all hosts.
  {
    match: { model: /qwen-?(?:3|4|max|plus|flash|turbo)/, except: /embed|rerank/ },
    models: 'Qwen 3 and newer',
    facts: ['qwen-system-first', 'qwen-two-systems', 'qwen-developer'],
    sources: ['https://github.com/vllm-project/vllm/issues/41114', 'https://github.com/BerriAI/litellm/pull/39852'],
    profile: { system: 'first', developer: 'system' },
  },
  {
    match: { model: /gemma/ },
    models: 'Gemma',
    facts: ['gemma-alternation'],
    sources: ['https://github.com/google/adk-python/issues/1373'],
    profile: { system: 'first', developer: 'system', alternates: true, pairedCalls: true },
  },
  {
    match: { model: /mistral|mixtral|ministral|devstral|magistral|codestral|pixtral/, except: /embed|ocr|moderation/ },
    models: "Mistral's models",
    facts: ['mistral-user-after-tool', 'mistral-call-ids', 'mistral-prefill', 'mistral-empty-answer'],
    sources: [
      'https://github.com/NousResearch/hermes-agent/issues/84944',
      'https://github.com/nearai/ironclaw/issues/1241',
      'https://github.com/huggingface/smolagents/issues/757',
      'https://github.com/vllm-project/vllm/issues/21089',
    ],
    profile: {
      system: 'first',
      developer: 'system',
      userAfterTool: false,
      emptyAnswers: 'drop',
      alternates: true,
      pairedCalls: true,
      callIds: 'letters9',
      prefill: 'prefix',
    },
  },
  {
    match: { model: /llama-?3/ },
    models: 'Llama 3',
    facts: ['llama-one-call', 'llama-no-empty-calls'],
    sources: ['https://github.com/vllm-project/vllm/issues/13978', 'https://github.com/vllm-project/vllm/issues/9451'],
    profile: { developer: 'system', severalCalls: false, pairedCalls: true },
  },
  {
    match: { model: /gpt-oss|(?:^|[/-])yi-/ },
    models: 'gpt-oss, Yi',
    facts: ['gpt-oss-one-system'],
    sources: ['https://github.com/ai-dynamo/dynamo/issues/10206'],
    profile: { system: 'first' },
  },
  {
    match: {
      model: /llama|phi-?[34]|granite|command-|nemotron|hermes|olmo|exaone|ernie|hunyuan|jamba|lfm|step-|(?:^|\/)yi-/,
    },
    models: 'other open models: Llama, Phi, Granite, Command, Nemotron, Hermes, Yi and more',
    facts: ['open-models-developer'],
    sources: ['https://github.com/ai-dynamo/dynamo/issues/10206', 'https://github.com/earendil-works/pi/issues/1048'],
    profile: { developer: 'system' },
  },
  {
    match: { model: /deepseek/ },
    models: 'DeepSeek',
    facts: ['deepseek-developer'],
    sources: ['https://github.com/earendil-works/pi/issues/1048'],
    profile: { developer: 'system' },
  },
  {
    match: { model: /deepseek-(?:r1|reasoner)/ },
    models: 'DeepSeek R1 and `deepseek-reasoner`',
    facts: ['deepseek-reasoner-alternation'],
    sources: ['https://github.com/deepseek-ai/DeepSeek-R1/issues/21', 'https://github.com/Aider-AI/aider/issues/2974'],
    profile: { alternates: true, pairedCalls: true },
  },
  {
    match: { model: /deepseek-?v?(?:4|3\.[12])|deepseek-(?:chat|reasoner)/ },
    models: 'DeepSeek 3.1 and newer',
    facts: ['deepseek-reasoning-back', 'deepseek-forced-tool'],
    sources: [
      'https://github.com/deepseek-ai/DeepSeek-V3/issues/1376',
      'https://github.com/earendil-works/pi/issues/3636',
    ],
    profile: { reasoning: 'required', forcedTool: 'unthinking', thinks: 'default', effortForm: 'thinking' },
  },
  {
    match: { model: /kimi|moonshot/ },
    models: 'Kimi',
    facts: ['kimi-sampling', 'kimi-forced-tool', 'kimi-schema', 'kimi-reasoning-back', 'kimi-call-ids'],
    sources: [
      'https://github.com/MoonshotAI/kimi-code/issues/686',
      'https://github.com/MoonshotAI/kimi-code/issues/1610',
      'https://github.com/MoonshotAI/kimi-cli/issues/2061',
      'https://github.com/vllm-project/vllm/issues/50782',
    ],
    profile: {
      developer: 'system',
      callContent: 'text',
      callIds: 'kimi',
      pairedCalls: true,
      strict: 'drop',
      reasoning: 'required',
      toolSchema: ['mfjs'],
      sampling: {
        temperature: refused,
        top_p: refused,
        n: refused,
        presence_penalty: refused,
        frequency_penalty: refused,
      },
      forcedTool: 'unthinking',
      thinks: 'default',
      effortForm: 'thinking',
    },
  },
  {
    match: { model: /kimi-k3/ },
    models: 'Kimi K3',
    facts: ['kimi-k3-efforts'],
    sources: ['https://platform.moonshot.ai/docs/guide/kimi-k3-quickstart'],
    profile: { efforts: ['low', 'high', 'max'], thinks: 'always', effortForm: 'reasoning_effort' },
  },
  {
    match: { model: /glm-?5\.[3-9]/ },
    models: 'GLM 5.3 and newer',
    facts: ['glm-efforts'],
    sources: ['https://docs.z.ai/guides/capabilities/thinking'],
    profile: { efforts: ['low', 'high', 'max'] },
  },
  {
    match: { model: /mimo/ },
    models: 'MiMo',
    facts: ['mimo-efforts'],
    sources: ['https://platform.xiaomimimo.com/docs'],
    profile: { efforts: usualEfforts },
  },
  {
    match: { model: /glm-?[45]/ },
    models: 'GLM 4 and 5',
    facts: ['glm-developer', 'glm-temperature', 'glm-auto-tools', 'glm-needs-user'],
    sources: ['https://github.com/earendil-works/pi/issues/755', 'https://github.com/mnfst/modelparams.dev/issues/301'],
    profile: {
      developer: 'system',
      sampling: { temperature: [0, 1] },
      forcedTool: 'auto',
      needsUser: true,
      strict: 'drop',
      thinks: 'default',
    },
  },
  {
    match: { model: /minimax-m|deepseek|qwen-?3|qwq|glm-?[45]|-thinking/ },
    models: 'MiniMax M, DeepSeek, Qwen 3, QwQ, GLM 4 and 5, `-thinking`',
    facts: ['think-tags-in-text', 'minimax-reasoning-twice'],
    sources: [
      'https://github.com/QuantumNous/new-api/issues/802',
      'https://github.com/vellum-ai/vellum-assistant/issues/34556',
    ],
    profile: { thinkTags: 'paired' },
  },
  {
    match: { model: /minimax-m|abab/ },
    models: 'MiniMax',
    facts: ['minimax-one-system', 'minimax-temperature', 'minimax-reasoning-split'],
    sources: ['https://github.com/can1357/oh-my-pi/issues/954', 'https://github.com/MiniMax-AI/MiniMax-M2/issues/51'],
    profile: {
      system: 'first',
      developer: 'system',
      pairedCalls: true,
      sampling: { temperature: [0.01, 1] },
      thinks: 'always',
    },
  },
  {
    match: { model: /grok-4(?!\.[5-9])|grok-code/ },
    models: 'Grok 4 up to 4.4, Grok Code',
    facts: ['grok-penalties', 'grok-stop', 'grok-efforts'],
    sources: [
      'https://github.com/open-webui/open-webui/issues/21266',
      'https://github.com/mnfst/modelparams.dev/issues/330',
    ],
    profile: {
      sampling: { presence_penalty: refused, frequency_penalty: refused },
      stops: 0,
      efforts: [],
      silent: true,
    },
  },
  {
    match: { model: /grok-4\.[5-9]|grok-[5-9]/ },
    models: 'Grok 4.5 and newer',
    facts: ['grok-newer-efforts'],
    sources: ['https://docs.x.ai/docs/guides/reasoning'],
    profile: {
      sampling: { presence_penalty: refused, frequency_penalty: refused },
      stops: 0,
      efforts: usualEfforts,
      silent: true,
    },
  },
  {
    match: { model: /(?:^|\/)(?:gpt-5|o[134](?:-|$))/, except: /chat/ },
    models: 'GPT-5, o1, o3, o4',
    facts: ['gpt5-sampling', 'gpt5-limit-name', 'gpt5-stop'],
    sources: [
      'https://platform.openai.com/docs/guides/reasoning',
      'https://github.com/can1357/oh-my-pi/issues/5606',
      'https://github.com/earendil-works/pi/issues/690',
    ],
    profile: {
      silent: true,
      sampling: {
        temperature: [1, 1],
        top_p: refused,
        presence_penalty: refused,
        frequency_penalty: refused,
        logprobs: refused,
        top_logprobs: refused,
        logit_bias: refused,
      },
      stops: 0,
      rename: { max_tokens: 'max_completion_tokens' },
    },
  },
  {
    match: { model: /gpt-5\.[1-9]/ },
    models: 'GPT-5.1 and newer',
    facts: ['gpt5-efforts'],
    sources: ['https://github.com/livekit/agents/issues/7169'],
    profile: { efforts: ['none', 'low', 'medium', 'high', 'xhigh'] },
  },
  {
    match: { model: /claude/ },
    models: 'Claude',
    facts: ['claude-schemas'],
    sources: ['https://github.com/laravel/ai/issues/715', 'https://github.com/ENTERPILOT/GoModel/issues/963'],
    profile: { answerSchema: ['closed', 'unbounded'] },
  },
  {
    match: { model: /claude-(?:opus|sonnet|haiku|fable)-5|claude-opus-4[-.][78]/ },
    models: 'Claude 5, Opus 4.7 and 4.8',
    facts: ['claude-sampling', 'claude-adaptive'],
    sources: [
      'https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721',
      'https://github.com/QuantumNous/new-api/issues/4335',
    ],
    profile: {
      sampling: { temperature: refused, top_p: refused, top_k: refused },
      thinkingForm: 'adaptive',
      prefill: 'refused',
    },
  },
  {
    match: { model: /claude-(?:opus|sonnet)-4[-.]6/ },
    models: 'Claude Opus and Sonnet 4.6',
    facts: ['claude-prefill'],
    sources: ['https://docs.anthropic.com/en/docs/about-claude/models'],
    profile: { prefill: 'refused' },
  },
  {
    match: { protocol: 'anthropic', model: /claude/ },
    facts: ['claude-image-type', 'claude-cache-marks', 'claude-no-effort'],
    sources: [
      'https://github.com/home-assistant/core/issues/167208',
      'https://platform.claude.com/docs/en/build-with-claude/prompt-caching',
      'https://platform.claude.com/docs/en/build-with-claude/effort',
    ],
    profile: { comparesImages: true, cacheMarks: 4, efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
  },
  ...cacheMinimums.map(([cacheMinimum, model, models, except]): ProfileEntry => ({
    match: { protocol: 'anthropic', model, ...(except && { except }) },
    models,
    facts: ['claude-cache-placed'],
    sources: ['https://platform.claude.com/docs/en/build-with-claude/prompt-caching#cache-limitations'],
    profile: { cacheMinimum },
  })),
  // Servers of Messages that are not Anthropic's.
  {
    match: { protocol: 'anthropic', except: /claude/ },
    models: 'all but Claude',
    facts: ['messages-server-system'],
    sources: ['https://github.com/experientiallabs/experiential/issues/672'],
    profile: { system: 'first' },
  },
  {
    match: { protocol: 'anthropic', model: /deepseek|kimi|minimax|glm|mimo|qwen/ },
    models: 'DeepSeek, Kimi, MiniMax, GLM, MiMo, Qwen',
    facts: ['messages-server-unsigned-thinking'],
    sources: ['https://github.com/ENTERPILOT/GoModel/issues/964'],
    profile: { unsignedThinking: true },
  },
  {
    match: { protocol: 'anthropic', model: /deepseek/ },
    models: 'DeepSeek',
    facts: ['deepseek-messages-effort'],
    sources: ['https://github.com/anthropics/claude-code/issues/65863'],
    profile: { effortWithoutThinking: false },
  },
  {
    match: { protocol: 'anthropic', model: /kimi-k3/ },
    models: 'Kimi K3',
    facts: ['kimi-k3-messages'],
    sources: ['https://platform.moonshot.ai/docs/guide/kimi-k3-quickstart'],
    profile: { thinkingForm: 'effort' },
  },
  {
    match: { protocol: 'anthropic', model: /minimax-m[3-9]/ },
    models: 'MiniMax M3 and newer',
    facts: ['minimax-m3-messages'],
    sources: ['https://platform.minimax.io/docs/api-reference/text-anthropic-api'],
    profile: { thinkingForm: 'adaptive' },
  },
  // Hosts with all models.
  {
    match: { brands: ['ollama', 'llamacpp', 'lmstudio'] },
    facts: ['two-answers-at-the-end'],
    sources: ['https://github.com/NousResearch/hermes-agent/issues/80265'],
    profile: { joinsAnswers: true },
  },
  {
    match: { brands: ['ollama'] },
    facts: ['ollama-limit-name', 'ollama-forced-tool'],
    sources: ['https://docs.ollama.com/api/openai-compatibility'],
    profile: { rename: limitOf, streamUsage: true, forcedTool: 'auto' },
  },
  {
    match: { brands: ['lmstudio'] },
    facts: ['lmstudio-json', 'lmstudio-content', 'lmstudio-named-tool'],
    sources: [
      'https://lmstudio.ai/docs/developer/openai-compat',
      'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/261',
    ],
    profile: {
      streamUsage: true,
      callContent: 'text',
      answerFormat: 'schema',
      forcedTool: 'required',
      developer: 'system',
    },
  },
  {
    match: { brands: ['llamacpp'] },
    facts: ['llamacpp-named-tool', 'llamacpp-two-answers'],
    sources: ['https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md'],
    profile: { streamUsage: true, prefill: 'continued', forcedTool: 'required', developer: 'system' },
  },
  {
    match: { brands: ['vllm'] },
    facts: ['vllm-developer', 'vllm-empty-tools', 'vllm-reasoning-member'],
    sources: [
      'https://github.com/vllm-project/vllm/issues/42664',
      'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
    ],
    profile: {
      streamUsage: true,
      developer: 'system',
      effortForm: 'chat_template_kwargs',
      emptyTools: false,
      reasoning: 'reasoning',
    },
  },
  {
    match: { brands: ['groq'] },
    facts: ['groq-developer', 'groq-reasoning', 'groq-members', 'groq-name'],
    sources: ['https://console.groq.com/docs/openai', 'https://github.com/janhq/jan/issues/8136'],
    profile: {
      streamUsage: true,
      reasoning: 'drop',
      developer: 'system',
      stops: 4,
      sampling: { logprobs: refused, top_logprobs: refused, logit_bias: refused },
      dropInMessages: ['name'],
    },
  },
  {
    match: { brands: ['mistral', 'codestral'] },
    facts: ['mistral-limit-name'],
    sources: ['https://docs.mistral.ai/api/', 'https://github.com/charmbracelet/crush/issues/1590'],
    profile: {
      rename: { ...limitOf, seed: 'random_seed', dimensions: 'output_dimension' },
      drop: ['stream_options'],
      reasoning: 'drop',
    },
  },
  {
    match: { brands: ['cerebras'] },
    facts: ['cerebras-schema', 'cerebras-efforts'],
    sources: ['https://inference-docs.cerebras.ai/resources/openai', 'https://github.com/agno-agi/agno/issues/6013'],
    profile: {
      reasoning: 'reasoning',
      developer: 'system',
      answerSchema: ['closed'],
      toolSchema: ['closed'],
      efforts: ['none', ...usualEfforts],
      drop: ['store'],
    },
  },
  {
    match: { brands: ['sambanova'] },
    facts: ['sambanova-efforts'],
    sources: ['https://docs.sambanova.ai/docs/en/features/openai-compatibility'],
    profile: { developer: 'system', efforts: usualEfforts },
  },
  {
    match: { brands: ['openai'] },
    facts: ['openai-short-ids', 'openai-pairs', 'openai-word-json', 'openai-empty-tools', 'openai-stops'],
    sources: ['https://platform.openai.com/docs/api-reference/chat/create'],
    profile: {
      streamUsage: true,
      tools: 128,
      emptyTools: false,
      stops: 4,
      callIds: 'short',
      pairedCalls: true,
      needsWordJson: true,
      takesCacheKey: true,
    },
  },
  {
    match: { brands: ['deepseek'] },
    facts: ['deepseek-limit-name', 'deepseek-pairs', 'deepseek-schema', 'deepseek-empty-tools'],
    sources: ['https://github.com/earendil-works/pi/issues/8018', 'https://github.com/llm-exe/llm-exe/issues/662'],
    profile: {
      rename: limitOf,
      reasoning: 'required',
      answerFormat: 'object',
      needsWordJson: true,
      pairedCalls: true,
      emptyTools: false,
      developer: 'system',
      drop: ['store'],
    },
  },
  {
    match: { brands: ['xai'] },
    facts: ['xai-store', 'xai-summary'],
    sources: ['https://docs.x.ai/docs/api-reference', 'https://github.com/can1357/oh-my-pi'],
    profile: { drop: ['store', 'reasoning.summary'] },
  },
  {
    match: { brands: ['openrouter'], model: /claude|gemini|qwen/ },
    facts: ['openrouter-cache-marks'],
    sources: ['https://openrouter.ai/docs/features/prompt-caching'],
    profile: { takesCacheMarks: true },
  },
  {
    match: { brands: ['cohere'] },
    facts: ['cohere-strict'],
    sources: [
      'https://docs.cohere.com/docs/compatibility-api',
      'https://github.com/OpenRouterTeam/openrouter-examples/issues/71',
    ],
    profile: { drop: ['stream_options'], strict: 'drop' },
  },
  {
    match: { brands: ['perplexity'] },
    facts: ['perplexity-system-first', 'perplexity-json'],
    sources: ['https://docs.perplexity.ai/guides/chat-completions-guide'],
    profile: {
      rename: limitOf,
      system: 'first',
      alternates: true,
      pairedCalls: true,
      developer: 'system',
      answerFormat: 'schema',
    },
  },
  {
    match: { brands: ['moonshot'] },
    facts: ['moonshot-pairs'],
    sources: ['https://platform.moonshot.ai/docs/api/chat', 'https://github.com/theopenco/llmgateway/pull/2093'],
    profile: { reasoning: 'required', pairedCalls: true, drop: ['store'] },
  },
  {
    match: { brands: ['dashscope'] },
    facts: ['dashscope-thinking', 'dashscope-word-json'],
    sources: ['https://www.alibabacloud.com/help/en/model-studio/deep-thinking'],
    profile: {
      streamUsage: true,
      developer: 'system',
      forcedTool: 'unthinking',
      effortForm: 'enable_thinking',
      thinks: 'optional',
      needsWordJson: true,
      drop: ['store'],
    },
  },
  {
    match: { brands: ['zai'] },
    facts: ['zai-limit-name'],
    sources: ['https://docs.z.ai/api-reference/introduction'],
    profile: { rename: limitOf, effortForm: 'thinking', developer: 'system', drop: ['store'] },
  },
  {
    match: { brands: ['minimax'] },
    facts: ['minimax-reasoning-split'],
    sources: ['https://platform.minimax.io/docs/api-reference/text-openai-api'],
    profile: { add: { reasoning_split: true } },
  },
  {
    match: { brands: ['together'] },
    facts: ['together-limit-name', 'together-efforts', 'together-strict'],
    sources: ['https://docs.together.ai/docs/openai-api-compatibility'],
    profile: { rename: limitOf, strict: 'drop', efforts: usualEfforts },
  },
  {
    match: { brands: ['chutes', 'fireworks', 'siliconflow', 'novita', 'hyperbolic'] },
    facts: ['chutes-limit-name', 'fireworks-limit-name'],
    sources: ['https://github.com/earendil-works/pi', 'https://github.com/can1357/oh-my-pi'],
    profile: { rename: limitOf, drop: ['store'] },
  },
  {
    match: { brands: ['nvidia'] },
    facts: ['nvidia-text', 'nvidia-reasoning-member', 'nvidia-thinking-off'],
    sources: ['https://github.com/earendil-works/pi/issues/1528'],
    profile: {
      textLists: false,
      effortForm: 'chat_template_kwargs',
      developer: 'system',
      drop: ['stream_options', 'reasoning'],
      streamUsage: false,
    },
  },
  {
    match: { brands: ['deepinfra'] },
    facts: ['deepinfra-developer'],
    sources: ['https://github.com/earendil-works/pi/issues/1578'],
    profile: { developer: 'system' },
  },
  {
    match: { protocol: 'gemini' },
    facts: ['gemini-stops'],
    sources: ['https://ai.google.dev/api/generate-content'],
    profile: { stops: 5 },
  },
  {
    match: { protocol: 'gemini', model: /gemini-2\.5/ },
    models: 'Gemini 2.5',
    facts: ['gemini-2.5-signatures'],
    sources: ['https://github.com/rowboatlabs/rowboat/issues/694'],
    profile: { signedCalls: true },
  },
  {
    match: {
      brands: [
        ...['deepseek', 'moonshot', 'zai', 'minimax', 'mistral', 'groq', 'cerebras', 'sambanova', 'dashscope', 'xai'],
        ...['together', 'fireworks', 'vllm', 'llamacpp', 'ollama', 'lmstudio'],
      ],
      protocol: 'openai',
    },
    facts: ['custom-tool-elsewhere'],
    sources: ['https://github.com/BerriAI/litellm/pull/34029', 'https://github.com/icebear0828/codex-proxy/issues/707'],
    profile: { customTools: 'function' },
  },
  {
    match: { brands: ['llamacpp', 'lmstudio', 'ollama', 'openrouter'], protocol: 'openai' },
    facts: ['responses-functions-alone'],
    sources: ['https://github.com/ggml-org/llama.cpp/issues/23041', 'https://github.com/openai/codex/issues/26234'],
    profile: { responsesTools: 'functions' },
  },
  // Models at hosts.
  {
    match: { brands: ['openai'], model: /^(?:gpt-[34]|chatgpt-|gpt-5.*-chat)/ },
    models: 'models that do not reason, such as `gpt-4.1`',
    facts: ['openai-no-effort'],
    sources: ['https://platform.openai.com/docs/guides/reasoning'],
    profile: { thinks: 'never', efforts: [] },
  },
  {
    match: { brands: ['openai'], model: /^(?:gpt-5|o\d)/, except: /chat/ },
    models: 'models that reason',
    facts: ['openai-translated-as-responses', 'openai-least-tokens'],
    sources: [
      'https://platform.openai.com/docs/guides/migrate-to-responses',
      'https://github.com/braintrustdata/lingua/pull/186',
    ],
    profile: { asResponses: 'translated', thinks: 'default', minTokens: 16 },
  },
  {
    match: { brands: ['openai'], model: /^gpt-5\.[45]/ },
    models: '`gpt-5.4`, `gpt-5.5`',
    facts: ['openai-tools-with-effort'],
    sources: [
      'https://github.com/pipecat-ai/pipecat/issues/4043',
      'https://github.com/charmbracelet/crush/issues/2913',
    ],
    profile: { asResponses: 'effort' },
  },
  {
    match: { brands: ['openai'], model: /^gpt-(?:5\.[6-9]|[6-9])/ },
    models: '`gpt-5.6` and later',
    facts: ['openai-tools'],
    sources: ['https://github.com/BerriAI/litellm/issues/34569', 'https://github.com/livekit/agents/issues/7169'],
    profile: { asResponses: 'tools' },
  },
  {
    match: { brands: ['openai'], model: /^(?:gpt|o\d).*(?:-pro|codex|deep-research)|^codex-/ },
    models: 'models that only Responses serve: `-pro`, `codex`, `deep-research`',
    facts: ['openai-responses-only'],
    sources: ['https://platform.openai.com/docs/models'],
    profile: { asResponses: 'all' },
  },
  {
    match: { brands: ['groq'], model: /gpt-oss/ },
    models: 'gpt-oss',
    facts: ['groq-gpt-oss-efforts'],
    sources: ['https://console.groq.com/docs/reasoning'],
    profile: { efforts: usualEfforts },
  },
  {
    match: { brands: ['groq'], model: /qwen/ },
    models: 'Qwen',
    facts: ['groq-qwen-efforts'],
    sources: ['https://console.groq.com/docs/reasoning'],
    profile: { efforts: ['none', 'default'] },
  },
]

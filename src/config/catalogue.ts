import type { Brand } from './brand.ts'
import type { Quirks } from './config.ts'
import { noQuirks } from './defaults.ts'

/** An entry below, without the members that are the same for nearly all brands. */
type BrandFacts = Pick<Brand, 'id' | 'name' | 'baseUrl' | 'keys' | 'sources'> &
  Partial<Pick<Brand, 'protocol' | 'port' | 'isDetected' | 'freeTier' | 'modelsPage' | 'models'>> & {
    readonly quirks?: Partial<Quirks>
  }

function brand({ quirks, ...entry }: BrandFacts): Brand {
  return { protocol: 'openai', isDetected: true, ...entry, quirks: { ...noQuirks, ...quirks } }
}

/**
 * The known brands, in the order in which detected ones are tried: servers on this machine, free tiers, makers of
 * models, hosts of other makers' models. Every quirk needs a source. A field is renamed or dropped only if the answer
 * keeps its meaning; otherwise the provider should reject the request, and the next one is tried.
 */
export const brands: readonly Brand[] = [
  brand({
    id: 'ollama',
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keys: [],
    port: 11434,
    modelsPage: 'https://ollama.com/library',
    quirks: { isFree: true },
    sources: ['https://docs.ollama.com/api/openai-compatibility'],
  }),
  brand({
    id: 'lmstudio',
    name: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    keys: [],
    port: 1234,
    modelsPage: 'https://lmstudio.ai/models',
    quirks: { isFree: true },
    sources: ['https://lmstudio.ai/docs/developer/openai-compat', 'https://lmstudio.ai/docs/app/api-changelog'],
  }),
  brand({
    id: 'llamacpp',
    name: 'llama.cpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    keys: [],
    port: 8080,
    quirks: { isFree: true },
    sources: ['https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md'],
  }),
  brand({
    id: 'vllm',
    name: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    keys: [],
    port: 8000,
    quirks: { isFree: true },
    sources: ['https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html'],
  }),
  brand({
    id: 'gemini',
    name: 'Google Gemini',
    protocol: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    freeTier: 'https://ai.google.dev/gemini-api/docs/pricing',
    modelsPage: 'https://ai.google.dev/gemini-api/docs/models',
    sources: ['https://ai.google.dev/api/generate-content'],
  }),
  brand({
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    freeTier: 'https://console.groq.com/docs/rate-limits',
    modelsPage: 'https://console.groq.com/docs/models',
    sources: [
      'https://console.groq.com/docs/openai',
      'https://reference.langchain.com/javascript/types/_langchain_groq.ChatGroqCallOptions.html',
      'https://github.com/janhq/jan/issues/8136',
      'https://github.com/vercel/ai/pull/8057',
    ],
  }),
  brand({
    id: 'mistral',
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keys: ['MISTRAL_API_KEY'],
    freeTier: 'https://docs.mistral.ai/deployment/ai-studio/tier',
    modelsPage: 'https://docs.mistral.ai/getting-started/models/',
    sources: [
      'https://docs.mistral.ai/api/',
      'https://github.com/openai/openai-agents-python/issues/442',
      'https://github.com/charmbracelet/crush/issues/1590',
    ],
  }),
  brand({
    id: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keys: ['CEREBRAS_API_KEY'],
    freeTier: 'https://inference-docs.cerebras.ai/support/rate-limits',
    modelsPage: 'https://inference-docs.cerebras.ai/models/overview',
    sources: [
      'https://inference-docs.cerebras.ai/resources/openai',
      'https://github.com/QwenLM/qwen-code/issues/11045',
    ],
  }),
  brand({
    id: 'sambanova',
    name: 'SambaNova',
    baseUrl: 'https://api.sambanova.ai/v1',
    keys: ['SAMBANOVA_API_KEY'],
    freeTier: 'https://docs.sambanova.ai/docs/en/models/rate-limits',
    modelsPage: 'https://docs.sambanova.ai/docs/en/models/sambacloud-models',
    sources: ['https://docs.sambanova.ai/docs/en/features/openai-compatibility'],
  }),
  brand({
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    keys: ['OPENAI_API_KEY'],
    modelsPage: 'https://platform.openai.com/docs/models',
    quirks: { formats: ['responses'] },
    sources: [
      'https://platform.openai.com/docs/api-reference/chat/create',
      'https://platform.openai.com/docs/api-reference/responses/create',
    ],
  }),
  brand({
    id: 'anthropic',
    name: 'Anthropic',
    protocol: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keys: ['ANTHROPIC_API_KEY'],
    modelsPage: 'https://docs.anthropic.com/en/docs/about-claude/models',
    sources: ['https://docs.anthropic.com/en/api/messages'],
  }),
  brand({
    id: 'codestral',
    name: 'Mistral Codestral',
    baseUrl: 'https://codestral.mistral.ai/v1',
    keys: ['CODESTRAL_API_KEY'],
    models: ['codestral-latest'],
    sources: [
      'https://docs.mistral.ai/capabilities/code_generation/',
      'https://github.com/charmbracelet/crush/issues/1590',
    ],
  }),
  brand({
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    keys: ['DEEPSEEK_API_KEY'],
    modelsPage: 'https://api-docs.deepseek.com/quick_start/pricing',
    sources: [
      'https://api-docs.deepseek.com/api/create-chat-completion',
      'https://github.com/earendil-works/pi/issues/3636',
    ],
  }),
  brand({
    id: 'xai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    keys: ['XAI_API_KEY'],
    modelsPage: 'https://docs.x.ai/docs/models',
    quirks: { reportsCost: true },
    sources: ['https://docs.x.ai/docs/api-reference', 'https://docs.x.ai/developers/cost-tracking'],
  }),
  brand({
    id: 'cohere',
    name: 'Cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    keys: ['COHERE_API_KEY', 'CO_API_KEY'],
    modelsPage: 'https://docs.cohere.com/docs/models',
    models: [
      'command-a-03-2025',
      'command-a-plus-05-2026',
      'command-a-reasoning-08-2025',
      'command-a-vision-07-2025',
      'command-r-plus-08-2024',
      'command-r-08-2024',
      'command-r7b-12-2024',
    ],
    sources: [
      'https://docs.cohere.com/docs/compatibility-api',
      'https://strandsagents.com/docs/user-guide/concepts/model-providers/cohere/',
    ],
  }),
  brand({
    id: 'perplexity',
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    keys: ['PERPLEXITY_API_KEY'],
    modelsPage: 'https://docs.perplexity.ai/getting-started/models',
    models: ['sonar', 'sonar-pro', 'sonar-reasoning-pro', 'sonar-deep-research'],
    quirks: { reportsCost: true },
    sources: ['https://docs.perplexity.ai/guides/chat-completions-guide'],
  }),
  brand({
    id: 'moonshot',
    name: 'Moonshot AI (Kimi)',
    baseUrl: 'https://api.moonshot.ai/v1',
    keys: ['MOONSHOT_API_KEY'],
    modelsPage: 'https://platform.moonshot.ai/docs/api/chat',
    sources: ['https://platform.moonshot.ai/docs/api/chat', 'https://github.com/theopenco/llmgateway/pull/2093'],
  }),
  brand({
    id: 'dashscope',
    name: 'Alibaba Cloud Model Studio (Qwen)',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keys: ['DASHSCOPE_API_KEY'],
    modelsPage: 'https://www.alibabacloud.com/help/en/model-studio/models',
    sources: [
      'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope',
      'https://www.alibabacloud.com/help/en/model-studio/stream',
    ],
  }),
  brand({
    id: 'zai',
    name: 'Z.AI (GLM)',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keys: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    modelsPage: 'https://docs.z.ai/guides/overview/pricing',
    sources: ['https://docs.z.ai/api-reference/introduction'],
  }),
  brand({
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    keys: ['MINIMAX_API_KEY'],
    modelsPage: 'https://platform.minimax.io/docs/guides/quickstart',
    sources: [
      'https://platform.minimax.io/docs/api-reference/text-openai-api',
      'https://platform.minimax.io/docs/api-reference/models/openai/list-models',
    ],
  }),
  brand({
    id: 'fireworks',
    name: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keys: ['FIREWORKS_API_KEY'],
    modelsPage: 'https://fireworks.ai/models',
    sources: ['https://docs.fireworks.ai/tools-sdks/openai-compatibility'],
  }),
  brand({
    id: 'together',
    name: 'Together AI',
    baseUrl: 'https://api.together.xyz/v1',
    keys: ['TOGETHER_API_KEY'],
    modelsPage: 'https://docs.together.ai/docs/serverless-models',
    sources: ['https://docs.together.ai/docs/openai-api-compatibility'],
  }),
  brand({
    id: 'nebius',
    name: 'Nebius Token Factory',
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    keys: ['NEBIUS_API_KEY'],
    modelsPage: 'https://docs.tokenfactory.nebius.com/',
    sources: ['https://docs.tokenfactory.nebius.com/api-reference/inference/create-chat-completion'],
  }),
  brand({
    id: 'nvidia',
    name: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    keys: ['NVIDIA_API_KEY'],
    modelsPage: 'https://build.nvidia.com/models',
    sources: ['https://docs.api.nvidia.com/nim/reference/llm-apis'],
  }),
  brand({
    id: 'deepinfra',
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    keys: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    modelsPage: 'https://deepinfra.com/models',
    sources: ['https://docs.deepinfra.com/api-reference/chat-completions/openai-chat-completions'],
  }),
  brand({
    id: 'hyperbolic',
    name: 'Hyperbolic',
    baseUrl: 'https://api.hyperbolic.xyz/v1',
    keys: ['HYPERBOLIC_API_KEY'],
    modelsPage: 'https://app.hyperbolic.ai/models',
    sources: ['https://docs.hyperbolic.xyz/docs/getting-started'],
  }),
  brand({
    id: 'novita',
    name: 'Novita AI',
    baseUrl: 'https://api.novita.ai/openai/v1',
    keys: ['NOVITA_API_KEY'],
    modelsPage: 'https://novita.ai/models',
    sources: ['https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion'],
  }),
  brand({
    id: 'chutes',
    name: 'Chutes',
    baseUrl: 'https://llm.chutes.ai/v1',
    keys: ['CHUTES_API_KEY'],
    modelsPage: 'https://llm.chutes.ai/v1/models',
    sources: ['https://chutes.ai/docs'],
  }),
  brand({
    id: 'siliconflow',
    name: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.com/v1',
    keys: ['SILICONFLOW_API_KEY'],
    modelsPage: 'https://cloud.siliconflow.com/models',
    sources: ['https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions'],
  }),
  brand({
    id: 'scaleway',
    name: 'Scaleway Generative APIs',
    baseUrl: 'https://api.scaleway.ai/v1',
    keys: ['SCALEWAY_API_KEY'],
    modelsPage: 'https://www.scaleway.com/en/docs/generative-apis/',
    sources: ['https://www.scaleway.com/en/docs/generative-apis/'],
  }),
  brand({
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keys: ['OPENROUTER_API_KEY'],
    modelsPage: 'https://openrouter.ai/models',
    quirks: { reportsCost: true },
    sources: [
      'https://openrouter.ai/docs/api-reference/overview',
      'https://openrouter.ai/docs/use-cases/usage-accounting',
    ],
  }),
  brand({
    id: 'vercel',
    name: 'Vercel AI Gateway',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    keys: ['AI_GATEWAY_API_KEY'],
    modelsPage: 'https://vercel.com/ai-gateway/models',
    sources: ['https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions'],
  }),
  brand({
    id: 'huggingface',
    name: 'Hugging Face router',
    baseUrl: 'https://router.huggingface.co/v1',
    keys: ['HF_TOKEN'],
    isDetected: false,
    modelsPage: 'https://huggingface.co/models?inference_provider=all',
    sources: ['https://huggingface.co/docs/inference-providers/tasks/chat-completion'],
  }),
  brand({
    id: 'github-models',
    name: 'GitHub Models',
    baseUrl: 'https://models.github.ai/inference',
    keys: ['GITHUB_MODELS_TOKEN', 'GITHUB_TOKEN'],
    isDetected: false,
    modelsPage: 'https://github.com/marketplace/models',
    models: [
      'openai/gpt-4.1',
      'openai/gpt-4.1-mini',
      'openai/gpt-4o',
      'openai/gpt-4o-mini',
      'openai/o4-mini',
      'deepseek/deepseek-r1-0528',
      'meta/llama-3.3-70b-instruct',
      'xai/grok-3',
    ],
    sources: ['https://docs.github.com/en/rest/models/inference'],
  }),
  brand({
    id: 'echo',
    name: 'Echo (built in)',
    protocol: 'echo',
    baseUrl: '',
    keys: [],
    isDetected: false,
    models: ['echo'],
    sources: ['docs/configuration.md'],
  }),
]

const brandsById: ReadonlyMap<string, Brand> = new Map(brands.map((brand) => [brand.id, brand]))

/** Finds a brand by id. */
export function findBrand(id: string): Brand | undefined {
  return brandsById.get(id)
}

/** The ids of all brands, in the catalogue's order. */
export const brandIds: readonly string[] = brands.map((brand) => brand.id)

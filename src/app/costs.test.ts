import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../base/json-value.ts'
import { defaultFailover, defaultLimits } from '../config/defaults.ts'
import type { ParsedProvider } from '../config/file/parse-provider.ts'
import { resolveProvider } from '../config/file/resolve-provider.ts'
import type { Ask, FormatName } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import { envelopeAt } from '../formats/format-testing.ts'
import type { Price } from '../formats/model.ts'
import { formatSamples } from '../formats/sample-testing.ts'
import type { Usage } from '../formats/usage.ts'
import { readAll } from '../gateway/testing.ts'
import type { Cost } from '../prices/cost.ts'
import { chunkJson, completionJson, event, fakeTransport, type FakeAnswer } from '../protocols/testing.ts'
import { unlimitedAnswerBudget } from '../service/answer-budget.ts'
import { healthBook } from '../service/health/health.ts'
import { callOf } from '../service/testing.ts'
import { assembleGateway } from './assemble.ts'

/** An answer of a provider, and what it costs. */
interface Sample {
  readonly name: string
  readonly provider?: Partial<ParsedProvider>
  readonly price?: Price
  readonly answer: FakeAnswer
  readonly isStream?: boolean
  /** Formats of callers. */
  readonly asked: readonly FormatName[]
  /** Nano-USD; undefined: not known. */
  readonly cost: number | undefined
  readonly more?: Partial<Cost>
}

const every: readonly FormatName[] = ['chat', 'messages', 'responses', 'gemini']

/** Asks for an answer in a format, and returns what it cost. */
async function costIn(
  format: FormatName,
  { provider, price, answer, isStream = false }: Sample,
): Promise<Cost | undefined> {
  const model = { name: 'asked', upstream: 'asked', aliases: [], ...(price === undefined ? {} : { price }) }
  const config = {
    providers: [resolveProvider({ id: 'a', baseUrl: 'http://a.example/v1', models: [model], ...provider }, {})],
    limits: defaultLimits,
    failover: defaultFailover,
    aliases: {},
    source: { kind: 'echo' },
  } as const
  const gateway = assembleGateway(config, {
    transport: fakeTransport(answer),
    health: healthBook(() => performance.now()),
    answerBudget: unlimitedAnswerBudget,
    log: { debug: () => undefined, warn: () => undefined },
  })
  try {
    const { reply, costOf } = await gateway.answer(askIn(format, isStream), callOf())
    return costOf?.(reply.kind === 'whole' ? reply.usage : await usageOf(reply))
  } finally {
    gateway.close()
  }
}

function askIn(format: FormatName, isStream: boolean): Ask {
  const { request, streamed, path, streamPath } = formatSamples[format]
  const { check, path: own } = formats[format]
  const address = (isStream ? streamPath : path) ?? own
  return check(new TextEncoder().encode(JSON.stringify(isStream ? streamed : request)), envelopeAt(address))
}

async function usageOf(reply: Parameters<typeof readAll>[0]): Promise<Usage | undefined> {
  const { parts } = await readAll(reply)
  return parts.findLast(({ usage }) => usage !== undefined)?.usage
}

function whole(answer: JsonObject): FakeAnswer {
  return { headers: { 'content-type': 'application/json' }, body: [JSON.stringify(answer)] }
}

function streamOf(...events: readonly unknown[]): FakeAnswer {
  return { headers: { 'content-type': 'text/event-stream' }, body: events.map(event) }
}

/** A chat completion with this usage, whole and as streams: usage in a chunk of its own, and beside choices. */
function chatSamples(
  { name, ...sample }: Omit<Sample, 'answer' | 'asked'>,
  usage: unknown,
  more: JsonObject = {},
): readonly Sample[] {
  const text = chunkJson({ content: 'Hello' })
  const end = chunkJson({}, 'stop')
  const shared = { ...sample, asked: every }
  return [
    { ...shared, name, answer: whole({ ...completionJson(), ...more, usage }) },
    {
      ...shared,
      name: `${name}, streamed`,
      isStream: true,
      answer: streamOf({ ...text, ...more }, { ...end, ...more }, { ...end, ...more, choices: [], usage }, '[DONE]'),
    },
    {
      ...shared,
      name: `${name}, streamed beside choices`,
      isStream: true,
      answer: streamOf({ ...more, ...text }, { ...more, ...end, usage }, '[DONE]'),
    },
  ]
}

const openAiPrice: Price = {
  input: 2.5,
  cachedInput: 1.25,
  output: 10,
  above: [{ tokens: 272_000, input: 5, cachedInput: 2.5, output: 15 }],
  flex: { input: 1.25, cachedInput: 0.625, output: 5 },
  priority: { input: 4.25, cachedInput: 2.125, output: 17 },
}
/** An example of OpenAI's page about prompt caching. */
const openAiUsage = {
  prompt_tokens: 2_006,
  completion_tokens: 300,
  total_tokens: 2_306,
  prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 128, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
}
const plainPrice: Price = { input: 1, output: 2 }

const chat: readonly Sample[] = [
  ...chatSamples(
    {
      name: 'cached tokens and reasoning at OpenAI',
      price: openAiPrice,
      cost: 86 * 2_500 + 1_920 * 1_250 + 300 * 10_000,
    },
    openAiUsage,
  ),
  ...chatSamples({ name: 'flex', price: openAiPrice, cost: 86 * 1_250 + 1_920 * 625 + 300 * 5_000 }, openAiUsage, {
    service_tier: 'flex',
  }),
  ...chatSamples(
    { name: 'priority', price: openAiPrice, cost: 86 * 4_250 + 1_920 * 2_125 + 300 * 17_000 },
    openAiUsage,
    { service_tier: 'priority' },
  ),
  ...chatSamples(
    { name: 'a long prompt', price: openAiPrice, cost: 1_000 * 5_000 + 272_000 * 2_500 + 10 * 15_000 },
    {
      prompt_tokens: 273_000,
      completion_tokens: 10,
      total_tokens: 273_010,
      prompt_tokens_details: { cached_tokens: 272_000 },
    },
  ),
  ...chatSamples(
    {
      name: 'reasoning inside the answer at a price of its own',
      price: { ...plainPrice, reasoning: 3 },
      cost: 10_000 + 20 * 2_000 + 30 * 3_000,
    },
    { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60, completion_tokens_details: { reasoning_tokens: 30 } },
  ),
  ...chatSamples(
    {
      name: 'reasoning beside the answer at xAI',
      price: { ...plainPrice, cachedInput: 0.5 },
      cost: 26 * 1_000 + 6 * 500 + 103 * 2_000,
    },
    {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 94, audio_tokens: 0 },
    },
  ),
  ...chatSamples(
    { name: 'hidden reasoning that only the total has', price: plainPrice, cost: 12 * 1_000 + 590 * 2_000 },
    {
      prompt_tokens: 12,
      completion_tokens: 250,
      total_tokens: 602,
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  ),
  ...chatSamples(
    {
      name: 'cached tokens beside the prompt, as the total shows',
      price: { ...plainPrice, cachedInput: 0.5 },
      cost: 10 * 1_000 + 90 * 500 + 5 * 2_000,
    },
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 105, prompt_tokens_details: { cached_tokens: 90 } },
  ),
  ...chatSamples(
    {
      name: 'pictures of the answer',
      price: { ...plainPrice, imageOutput: 30 },
      cost: 7_000 + 20 * 2_000 + 80 * 30_000,
    },
    {
      prompt_tokens: 7,
      completion_tokens: 100,
      total_tokens: 107,
      completion_tokens_details: { image_tokens: 80 },
    },
  ),
  ...chatSamples(
    { name: 'searches without a price', price: plainPrice, cost: undefined },
    { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, num_search_queries: 3 },
  ),
  ...chatSamples(
    { name: 'searches that are billed by the answer', price: { ...plainPrice, searchRequest: 0.005 }, cost: 5_003_000 },
    { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, num_search_queries: 3 },
  ),
  ...chatSamples(
    { name: 'fractions', price: plainPrice, cost: undefined },
    { prompt_tokens: 3.5, completion_tokens: 2.5, total_tokens: 6 },
  ),
  ...chatSamples(
    {
      name: 'audio',
      price: { ...plainPrice, audioInput: 40, audioOutput: 80 },
      cost: 20 * 1_000 + 80 * 40_000 + 10 * 2_000 + 40 * 80_000,
    },
    {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { audio_tokens: 80, cached_tokens: 0 },
      completion_tokens_details: { audio_tokens: 40 },
    },
  ),
  ...chatSamples(
    {
      name: 'cache hits at DeepSeek',
      price: { ...plainPrice, cachedInput: 0.1 },
      cost: 36 * 1_000 + 64 * 100 + 5 * 2_000,
    },
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    },
  ),
  ...chatSamples(
    {
      name: 'cache writes behind OpenRouter, at a price',
      price: plainPrice,
      cost: 50 * 1_000 + 100 * 1_250 + 44 * 1_000 + 2 * 2_000,
    },
    {
      prompt_tokens: 194,
      completion_tokens: 2,
      total_tokens: 196,
      prompt_tokens_details: { cached_tokens: 44, cache_write_tokens: 100, audio_tokens: 0 },
    },
  ),
  ...chatSamples(
    { name: 'searches', price: { ...plainPrice, search: 0.01 }, cost: 1_000 + 2_000 + 3 * 10_000_000 },
    { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, server_tool_use: { web_search_requests: 3 } },
  ),
  ...chatSamples(
    { name: 'zeros', price: plainPrice, cost: 0 },
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  ),
  ...chatSamples({ name: 'no usage', price: plainPrice, cost: undefined }, undefined),
  ...chatSamples({ name: 'usage without counts', price: plainPrice, cost: undefined }, {}),
  ...chatSamples({ name: 'a total alone', price: plainPrice, cost: undefined }, { total_tokens: 3 }),
  ...chatSamples(
    { name: 'no answer, but a total', price: plainPrice, cost: 5_000 },
    { prompt_tokens: 1, total_tokens: 3 },
  ),
  ...chatSamples(
    { name: 'a negative count', price: plainPrice, cost: undefined },
    { prompt_tokens: -1, completion_tokens: 1 },
  ),
  ...chatSamples(
    { name: 'a huge count', price: plainPrice, cost: undefined },
    { prompt_tokens: 1e15, completion_tokens: 1 },
  ),
  ...chatSamples(
    { name: 'counts in strings', price: plainPrice, cost: 5_000 },
    { prompt_tokens: '1', completion_tokens: '2', total_tokens: '3' },
  ),
  ...chatSamples({ name: 'no price', cost: undefined }, openAiUsage),
  ...chatSamples({ name: 'a price of 0', price: { input: 0, output: 0 }, cost: 0 }, openAiUsage),
]

/** An example of OpenRouter's page about usage accounting. */
const openRouterUsage = {
  prompt_tokens: 194,
  completion_tokens: 2,
  total_tokens: 196,
  cost: 0.95,
  cost_details: { upstream_inference_cost: 19 },
}
const openRouter = { provider: { brand: 'openrouter' } } as const

const reported: readonly Sample[] = [
  ...chatSamples(
    { ...openRouter, name: 'what OpenRouter reports', cost: 950_000_000, more: { source: 'reported' } },
    openRouterUsage,
  ),
  ...chatSamples(
    {
      ...openRouter,
      name: 'what OpenRouter reports with a key of its user',
      cost: 19_950_000_000,
      more: { source: 'reported' },
    },
    { ...openRouterUsage, is_byok: true },
  ),
  ...chatSamples(
    {
      provider: { brand: 'perplexity' },
      name: 'what Perplexity reports, with its fees',
      cost: 6_000_000,
      more: { source: 'reported' },
    },
    {
      prompt_tokens: 100,
      completion_tokens: 900,
      total_tokens: 1_000,
      cost: { input_tokens_cost: 0.0001, output_tokens_cost: 0.0009, request_cost: 0.005, total_cost: 0.006 },
    },
  ),
  ...chatSamples(
    {
      ...openRouter,
      name: 'the price of the configuration, before it',
      price: plainPrice,
      cost: 198_000,
      more: { source: 'config' },
    },
    openRouterUsage,
  ),
  ...chatSamples(
    { provider: { brand: 'xai' }, name: 'the ticks of xAI', cost: 3_775_600, more: { source: 'reported' } },
    { prompt_tokens: 199, completion_tokens: 1, total_tokens: 200, cost_in_usd_ticks: 37_756_000 },
  ),
  ...chatSamples(
    { ...openRouter, name: '0 for a reported 0 without a price', cost: 0, more: { source: 'reported' } },
    { ...openRouterUsage, cost: 0 },
  ),
  ...chatSamples({ name: 'nothing for what other providers report', cost: undefined }, openRouterUsage),
]

const anthropicPrice: Price = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWriteHour: 6, output: 15 }

/** A message with this usage, whole and as a stream whose start has the prompt. */
function messageSamples({ name, ...sample }: Omit<Sample, 'answer' | 'asked'>, usage: JsonObject): readonly Sample[] {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
  const text = { type: 'text', text: 'Hi' }
  const { output_tokens, ...ofPrompt } = usage
  const shared = { ...sample, provider: { protocol: 'anthropic' }, asked: every } as const
  return [
    { ...shared, name, answer: whole({ ...head, content: [text], stop_reason: 'end_turn', usage }) },
    {
      ...shared,
      name: `${name}, streamed`,
      isStream: true,
      answer: streamOf(
        {
          type: 'message_start',
          message: { ...head, content: [], stop_reason: null, usage: { ...ofPrompt, output_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens } },
        { type: 'message_stop' },
      ),
    },
  ]
}

const anthropic: readonly Sample[] = [
  ...messageSamples(
    {
      name: 'cache reads, and writes for 5 minutes and an hour at Anthropic',
      price: anthropicPrice,
      cost: 2_048 * 3_000 + 1_800 * 300 + 148 * 3_750 + 100 * 6_000 + 503 * 15_000,
    },
    {
      input_tokens: 2_048,
      cache_read_input_tokens: 1_800,
      cache_creation_input_tokens: 248,
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
      output_tokens: 503,
      service_tier: 'standard',
    },
  ),
  ...messageSamples(
    {
      name: 'writes without their kinds, thinking and searches',
      price: { ...anthropicPrice, search: 0.01 },
      cost: 10 * 3_000 + 5 * 3_750 + 20 * 15_000 + 20_000_000,
    },
    {
      input_tokens: 10,
      cache_creation_input_tokens: 5,
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 15 },
      server_tool_use: { web_search_requests: 2 },
    },
  ),
  ...messageSamples(
    {
      name: 'priority at Anthropic',
      price: { ...anthropicPrice, priority: { input: 6 } },
      cost: 10 * 6_000 + 1 * 15_000,
    },
    { input_tokens: 10, output_tokens: 1, service_tier: 'priority' },
  ),
  ...messageSamples(
    {
      name: 'fast mode in one place at Anthropic',
      price: { ...anthropicPrice, search: 0.01, multiples: { fast: 2, us: 1.1 } },
      cost: 10 * 6_600 + 7 * 660 + 4 * 33_000 + 10_000_000,
    },
    {
      input_tokens: 10,
      cache_read_input_tokens: 7,
      output_tokens: 4,
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 3 },
      speed: 'fast',
      inference_geo: 'us',
    },
  ),
  ...messageSamples(
    { name: 'the standard speed, anywhere, at Anthropic', price: anthropicPrice, cost: 45_000 },
    { input_tokens: 10, output_tokens: 1, speed: 'standard', inference_geo: 'not_available' },
  ),
  ...messageSamples(
    { name: 'fast mode without its multiple', price: { ...anthropicPrice, multiples: { us: 1.1 } }, cost: undefined },
    { input_tokens: 10, output_tokens: 1, speed: 'fast', inference_geo: 'us' },
  ),
  ...messageSamples(
    { name: 'a place without its multiple', price: { ...anthropicPrice, multiples: { us: 1.1 } }, cost: undefined },
    { input_tokens: 10, output_tokens: 1, inference_geo: 'eu' },
  ),
  ...messageSamples(
    { name: 'a tool of Anthropic without a price', price: anthropicPrice, cost: undefined },
    { input_tokens: 10, output_tokens: 1, server_tool_use: { code_execution_requests: 1 } },
  ),
  ...messageSamples(
    { name: 'strings at Anthropic', price: anthropicPrice, cost: 45_000 },
    { input_tokens: '10', output_tokens: '1' },
  ),
  ...messageSamples({ name: 'no prompt at Anthropic', price: anthropicPrice, cost: undefined }, { output_tokens: 1 }),
  ...messageSamples(
    { name: 'a negative prompt at Anthropic', price: anthropicPrice, cost: undefined },
    { input_tokens: -5, output_tokens: 1 },
  ),
]

const geminiPrice: Price = {
  input: 1.25,
  cachedInput: 0.125,
  output: 10,
  above: [{ tokens: 200_000, input: 2.5, output: 15 }],
}

function geminiSamples(
  { name, ...sample }: Omit<Sample, 'answer' | 'asked'>,
  usageMetadata: JsonObject,
  groundingMetadata?: JsonObject,
): readonly Sample[] {
  const content = { role: 'model', parts: [{ text: 'Hi' }] }
  const shared = { ...sample, provider: { protocol: 'gemini' }, asked: every } as const
  const { promptTokenCount } = usageMetadata
  const early = { promptTokenCount, totalTokenCount: promptTokenCount }
  const end = { candidates: [{ content, finishReason: 'STOP', index: 0, groundingMetadata }], usageMetadata }
  return [
    { ...shared, name, answer: whole(end) },
    {
      ...shared,
      name: `${name}, streamed`,
      isStream: true,
      answer: streamOf({ candidates: [{ content, index: 0, groundingMetadata }], usageMetadata: early }, end),
    },
  ]
}

const gemini: readonly Sample[] = [
  ...geminiSamples(
    {
      name: 'thoughts beside the answer, and cached tokens at Gemini',
      price: geminiPrice,
      cost: 900 * 1_250 + 100 * 125 + 70 * 10_000,
    },
    {
      promptTokenCount: 1_000,
      cachedContentTokenCount: 100,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 50,
      totalTokenCount: 1_070,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1_000 }],
    },
  ),
  ...geminiSamples(
    { name: 'a long prompt at Gemini', price: geminiPrice, cost: 200_001 * 2_500 + 15_000 },
    { promptTokenCount: 200_001, candidatesTokenCount: 1, totalTokenCount: 200_002 },
  ),
  ...geminiSamples(
    {
      name: 'audio, images and prompts of tools at Gemini',
      price: { ...geminiPrice, audioInput: 3, imageInput: 2, audioOutput: 20 },
      cost: 70 * 1_250 + 258 * 2_000 + 32 * 3_000 + 5 * 1_250 + 20 * 20_000,
    },
    {
      promptTokenCount: 360,
      candidatesTokenCount: 20,
      toolUsePromptTokenCount: 5,
      totalTokenCount: 385,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 70 },
        { modality: 'IMAGE', tokenCount: 258 },
        { modality: 'AUDIO', tokenCount: 32 },
      ],
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
    },
  ),
  ...geminiSamples(
    { name: 'thoughts alone at Gemini', price: geminiPrice, cost: 10 * 1_250 + 40 * 10_000 },
    { promptTokenCount: 10, thoughtsTokenCount: 40, totalTokenCount: 50 },
  ),
  ...geminiSamples(
    { name: 'thoughts that only the total has at Gemini', price: geminiPrice, cost: 10 * 1_250 + 45 * 10_000 },
    { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 55 },
  ),
  ...geminiSamples(
    { name: 'flex at Gemini', price: { ...geminiPrice, flex: { input: 1, output: 2 } }, cost: 10 * 1_000 + 2_000 },
    { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11, serviceTier: 'flex' },
  ),
  ...geminiSamples(
    { name: 'priority at Gemini', price: { ...geminiPrice, priority: { input: 3 } }, cost: 10 * 3_000 + 10_000 },
    { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11, serviceTier: 'SERVICE_TIER_PRIORITY' },
  ),
  ...geminiSamples(
    {
      name: 'pictures of the answer at Gemini',
      price: { ...geminiPrice, imageOutput: 30 },
      cost: 10 * 1_250 + 10 * 10_000 + 90 * 30_000,
    },
    {
      promptTokenCount: 10,
      candidatesTokenCount: 100,
      totalTokenCount: 110,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 90 }],
    },
  ),
  ...geminiSamples(
    { name: 'searches at Gemini', price: { ...geminiPrice, search: 0.014 }, cost: 12_500 + 10_000 + 3 * 14_000_000 },
    { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 },
    { webSearchQueries: ['red', 'green', ''], imageSearchQueries: ['blue'] },
  ),
  ...geminiSamples(
    {
      name: 'searches that are billed by the answer, and maps at Gemini',
      price: { ...geminiPrice, searchRequest: 0.035, tools: { maps: 0.025 } },
      cost: 12_500 + 10_000 + 35_000_000 + 25_000_000,
    },
    { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 },
    { webSearchQueries: ['red', 'green'], groundingChunks: [{ maps: { uri: 'https://maps.example' } }] },
  ),
  ...geminiSamples(
    { name: 'maps without a price at Gemini', price: { ...geminiPrice, search: 0.014 }, cost: undefined },
    { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 },
    { groundingChunks: [{ maps: { uri: 'https://maps.example' } }] },
  ),
  ...geminiSamples(
    { name: 'strings at Gemini', price: geminiPrice, cost: 10 * 1_250 + 10_000 },
    { promptTokenCount: '10', candidatesTokenCount: '1', totalTokenCount: '11' },
  ),
  ...geminiSamples(
    { name: 'a negative prompt at Gemini', price: geminiPrice, cost: undefined },
    { promptTokenCount: -10, candidatesTokenCount: 1 },
  ),
  ...geminiSamples({ name: 'no usage at Gemini', price: geminiPrice, cost: undefined }, {}),
]

function responseSamples({ name, ...sample }: Omit<Sample, 'answer' | 'asked'>, more: JsonObject): readonly Sample[] {
  const message = {
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
  }
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [message],
    ...more,
  }
  const shared = { ...sample, provider: { formats: ['responses'] }, asked: ['responses'] } as const
  return [
    { ...shared, name, answer: whole(response) },
    {
      ...shared,
      name: `${name}, streamed`,
      isStream: true,
      answer: streamOf(
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
        { type: 'response.completed', response },
      ),
    },
  ]
}

const responses: readonly Sample[] = [
  ...responseSamples(
    {
      name: 'cached tokens and reasoning of Responses',
      price: { ...openAiPrice, reasoning: 20 },
      cost: 86 * 2_500 + 1_920 * 1_250 + 172 * 10_000 + 128 * 20_000,
    },
    {
      usage: {
        input_tokens: 2_006,
        input_tokens_details: { cached_tokens: 1_920 },
        output_tokens: 300,
        output_tokens_details: { reasoning_tokens: 128 },
        total_tokens: 2_306,
      },
    },
  ),
  ...responseSamples(
    {
      name: 'flex and searches of Responses',
      price: { ...openAiPrice, search: 0.01 },
      cost: 1_250 + 5_000 + 10_000_000,
    },
    {
      service_tier: 'flex',
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      output: [
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
        { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'open_page', url: 'x' } },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
        },
      ],
    },
  ),
  ...responseSamples(
    {
      name: 'tools of Responses, by the use and by the container',
      price: { ...plainPrice, tools: { file_search: 0.002, code_interpreter: 0.03 } },
      cost: 1_000 + 2_000 + 2 * 2_000_000 + 30_000_000,
    },
    {
      usage: { input_tokens: 1, output_tokens: 1 },
      output: [
        { type: 'file_search_call', id: 'fs_1', status: 'completed' },
        { type: 'file_search_call', id: 'fs_2', status: 'completed' },
        { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', status: 'completed' },
        { type: 'code_interpreter_call', id: 'ci_2', container_id: 'cntr_1', status: 'completed' },
        { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      ],
    },
  ),
  ...responseSamples(
    { name: 'a tool of Responses without a price', price: { ...plainPrice, search: 0.01 }, cost: undefined },
    {
      usage: { input_tokens: 1, output_tokens: 1 },
      output: [
        { type: 'image_generation_call', id: 'ig_1', status: 'completed' },
        { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      ],
    },
  ),
  ...responseSamples(
    { name: 'strings of Responses', price: plainPrice, cost: 5_000 },
    { usage: { input_tokens: '1', output_tokens: '2' } },
  ),
  ...responseSamples(
    { name: 'a huge count of Responses', price: plainPrice, cost: undefined },
    { usage: { input_tokens: 1e12, output_tokens: 2 } },
  ),
  ...responseSamples({ name: 'no usage of Responses', price: plainPrice, cost: undefined }, { usage: null }),
]

const embedding = { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.5, -1, 0] }] }
const ranking = { id: 'r', results: [{ index: 0, relevance_score: 0.5 }] }
const pictures = { created: 1, data: [{ b64_json: 'AAAA' }] }

const others: readonly Sample[] = [
  {
    name: 'embeddings',
    price: { input: 0.02, output: 0 },
    answer: whole({ ...embedding, usage: { prompt_tokens: 8, total_tokens: 8 } }),
    asked: ['embeddings'],
    cost: 160,
  },
  {
    name: 'embeddings with a total alone',
    price: { input: 0.02, output: 0 },
    answer: whole({ ...embedding, usage: { total_tokens: 8 } }),
    asked: ['embeddings'],
    cost: 160,
  },
  {
    name: 'a ranking by its searches',
    price: { input: 0, output: 0, search: 0.002 },
    answer: whole({ ...ranking, meta: { billed_units: { search_units: 2 } } }),
    asked: ['rerank'],
    cost: 4_000_000,
  },
  {
    name: 'a ranking by its tokens',
    price: { input: 0.05, output: 0 },
    answer: whole({ ...ranking, usage: { total_tokens: 100 } }),
    asked: ['rerank'],
    cost: 5_000,
  },
  {
    name: 'embeddings with a prompt of 0 beside a total',
    price: { input: 0.02, output: 0 },
    answer: whole({ ...embedding, usage: { prompt_tokens: 0, total_tokens: 8 } }),
    asked: ['embeddings'],
    cost: 160,
  },
  {
    name: 'a ranking whose total is above its prompt',
    price: { input: 0.05, output: 0 },
    answer: whole({ ...ranking, usage: { prompt_tokens: 40, total_tokens: 100 } }),
    asked: ['rerank'],
    cost: 5_000,
  },
  {
    name: 'a picture by its tokens',
    price: { input: 5, imageInput: 10, output: 40 },
    answer: whole({
      ...pictures,
      usage: {
        input_tokens: 50,
        input_tokens_details: { text_tokens: 10, image_tokens: 40 },
        output_tokens: 272,
        total_tokens: 322,
      },
    }),
    asked: ['image_generations'],
    cost: 10 * 5_000 + 40 * 10_000 + 272 * 40_000,
  },
  {
    name: 'a picture by the request',
    price: { input: 0, output: 0, request: 0.04 },
    answer: whole(pictures),
    asked: ['image_generations'],
    cost: 40_000_000,
  },
  {
    name: 'a picture of xAI, with its cost alone',
    provider: { brand: 'xai' },
    answer: whole({ ...pictures, usage: { cost_in_usd_ticks: 200_000_000 } }),
    asked: ['image_generations'],
    cost: 20_000_000,
  },
  {
    name: 'a moderation without usage',
    price: { input: 1, output: 1 },
    answer: whole({ id: 'modr-1', model: 'm', results: [{ flagged: false, categories: {} }] }),
    asked: ['moderations'],
    cost: undefined,
  },
  {
    name: 'usage in a choice, as Moonshot streams it',
    price: plainPrice,
    isStream: true,
    answer: streamOf(chunkJson({ content: 'Hi' }), moonshotEnd(), '[DONE]'),
    asked: ['chat'],
    cost: 19_000 + 13 * 2_000,
  },
]

function moonshotEnd(): JsonObject {
  const usage = { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32 }
  return { ...chunkJson({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }
}

describe.each<[string, readonly Sample[]]>([
  ['chat completions', chat],
  ['a reported cost', reported],
  ['Messages', anthropic],
  ['generateContent', gemini],
  ['Responses', responses],
  ['other endpoints', others],
])('the cost of %s', (_, samples) => {
  test.each(samples.flatMap((sample) => sample.asked.map((format) => [sample.name, format, sample] as const)))(
    'is known for %s, asked in %s',
    async (_name, format, sample) => {
      const cost = await costIn(format, sample)
      expect(cost?.nanoUsd).toEqual(sample.cost)
      expect(cost ?? {}).toMatchObject(sample.more ?? {})
      expect(cost?.hasConflict).toBeUndefined()
    },
  )
})

/** Complaints about other gateways, by their theme. */
describe('complaint: streams cost nothing', () => {
  const all = [...chat, ...anthropic, ...gemini, ...responses]
  const pairs = all.flatMap((whole) =>
    all
      .filter(({ name, isStream }) => isStream === true && name.startsWith(`${whole.name}, streamed`))
      .map((stream) => [stream.name, whole, stream] as const),
  )

  test.each(pairs)('a stream costs what the whole answer does: %s', async (_name, whole, stream) => {
    for (const format of whole.asked) expect(await costIn(format, stream)).toEqual(await costIn(format, whole))
  })
})

describe('complaint: cached tokens wrong, both ways', () => {
  const sample = (usage: JsonObject): Sample => ({
    name: '',
    price: anthropicPrice,
    answer: whole({ ...completionJson(), usage }),
    asked: ['chat'],
    cost: undefined,
  })
  const counts = { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 }

  test('cached tokens are billed once, at their own price', async () => {
    const cached = sample({ ...counts, prompt_tokens_details: { cached_tokens: 1_000 } })
    expect((await costIn('chat', cached))?.nanoUsd).toBe(300_000)
  })

  test('a prompt that leaves them out is not billed as less than they cost', async () => {
    const beside = sample({ ...counts, prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 1_000 } })
    expect(await costIn('chat', beside)).toMatchObject({ nanoUsd: 300_000, hasConflict: true })
  })
})

describe('complaint: unknown, stale, confused prices', () => {
  const plain: Sample = {
    name: '',
    answer: whole({ ...completionJson(), usage: openAiUsage }),
    asked: ['chat'],
    cost: undefined,
  }

  test('an unknown price is not 0, and a price of 0 is known', async () => {
    expect(await costIn('chat', plain)).toBeUndefined()
    expect(await costIn('chat', { ...plain, price: { input: 0, output: 0 } })).toEqual({ nanoUsd: 0, source: 'config' })
  })

  test('a server on this machine costs nothing, one elsewhere is not known', async () => {
    const ollama = { brand: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1' }
    expect(await costIn('chat', { ...plain, provider: ollama })).toEqual({ nanoUsd: 0, source: 'catalogue' })
    expect(await costIn('chat', { ...plain, provider: { ...ollama, baseUrl: 'http://a.example/v1' } })).toBeUndefined()
  })
})

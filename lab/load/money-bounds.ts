import { parseJson, pick } from '../../test/client.ts'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { startRedisServer } from '../../test/fakes/redis-server.ts'
import { completion, reply } from '../../test/fakes/replies.ts'
import { startService, type ServiceConfig, type ServiceUnderTest } from '../../test/harness.ts'

/** Bills of providers that no caller can foresee. */
const kinds = ['hidden prompt', 'varying prompt', 'content by reference', 'long answer'] as const
type Kind = (typeof kinds)[number]
const formats = ['chat', 'messages', 'responses', 'gemini'] as const
type Format = (typeof formats)[number]
/** Processes that keep the budgets. */
export const boundTopologies = ['one process', 'workers', 'two machines'] as const
export type BoundTopology = (typeof boundTopologies)[number]

/** A budget, and what its callers spent. Amounts are in nano-USD. */
export interface BoundRound {
  readonly topology: BoundTopology
  readonly kind: Kind
  readonly format: Format
  readonly isHard: boolean
  readonly limit: number
  readonly billed: number
  readonly dearest: number
  readonly answers: number
}

/** nano-USD for a token. */
const price = { input: 1_000, output: 2_000 }
const contextTokens = 200_000
const tokensMax = 150_000
const answerTokensMax = 1_000_000
const refusalsUntilEnd = 3
const https = 'https://files.example/a.pdf'

interface Plan extends Pick<BoundRound, 'kind' | 'format' | 'isHard' | 'limit'> {
  readonly model: string
  /** Tokens of hidden prompts; of content, of answers and of varying prompts the most. */
  readonly tokens: number
  readonly knowsContext: boolean
}

function plansOf(count: number): readonly Plan[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length] ?? 'long answer'
    return {
      kind,
      model: `b${index}`,
      format: formats[Math.floor(Math.random() * formats.length)] ?? 'chat',
      isHard: kind === 'long answer' || (kind !== 'varying prompt' && Math.random() < 0.5),
      limit: Math.round((0.2 + Math.random()) * 1e9),
      tokens: Math.ceil(Math.random() * tokensMax),
      knowsContext: Math.random() < 0.5,
    }
  })
}

/** Uses up the budgets with callers that all ask at once. */
export async function runBounds(
  topology: BoundTopology,
  asked: { readonly callers: number; readonly rounds: number },
): Promise<readonly BoundRound[]> {
  const plans = plansOf(asked.rounds)
  const bills = new Map<string, number[]>(plans.map(({ model }) => [model, []]))
  using upstream = billingUpstream(plans, bills)
  await using services = await startAll(topology, plans, upstream.url)
  const rounds: BoundRound[] = []
  for (const plan of plans) {
    await Promise.all(
      Array.from({ length: asked.callers }, (_, caller) =>
        call(services.all[caller % services.all.length]?.url ?? '', plan),
      ),
    )
    const billed = bills.get(plan.model) ?? []
    rounds.push({
      ...{ topology, kind: plan.kind, format: plan.format, isHard: plan.isHard, limit: plan.limit },
      billed: billed.reduce((sum, nano) => sum + nano, 0),
      dearest: Math.max(0, ...billed),
      answers: billed.length,
    })
  }
  return rounds
}

async function call(url: string, plan: Plan): Promise<void> {
  const { path, body } = requestOf(plan)
  for (let refusals = 0; refusals < refusalsUntilEnd;) {
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
    await response.text()
    if (response.status !== 200) refusals += 1
  }
}

const parts: Readonly<Record<Format, object>> = {
  chat: { type: 'file', file: { file_id: 'file-1' } },
  messages: { type: 'document', source: { type: 'url', url: https } },
  responses: { type: 'input_file', file_url: https },
  gemini: { fileData: { fileUri: https, mimeType: 'application/pdf' } },
}

function requestOf({ kind, format, model, tokens }: Plan): { readonly path: string; readonly body: object } {
  const most = kind === 'long answer' ? tokens * 7 : 10
  const added = kind === 'content by reference' ? [parts[format]] : []
  if (format === 'gemini') {
    const contents = [{ role: 'user', parts: [...added, { text: 'Hi' }] }]
    return {
      path: `/v1beta/models/${model}:generateContent`,
      body: { contents, generationConfig: { maxOutputTokens: most } },
    }
  }
  const type = format === 'responses' ? 'input_text' : 'text'
  const content = [{ role: 'user', content: [...added, { type, text: 'Hi' }] }]
  return format === 'responses'
    ? { path: '/v1/responses', body: { model, input: content, max_output_tokens: most } }
    : {
        path: format === 'chat' ? '/v1/chat/completions' : '/v1/messages',
        body: { model, messages: content, max_tokens: most },
      }
}

/** One provider that speaks all formats. It fills content and answers, and bills hidden prompts. */
function billingUpstream(plans: readonly Plan[], bills: ReadonlyMap<string, number[]>) {
  const upstream = faultUpstream(async (exchange) => {
    upstream.forget()
    const { path, body } = exchange.hit
    const request = parseJson(Buffer.from(body).toString())
    const model = /models\/(\w+):/.exec(path)?.[1] ?? String(pick(request, 'model'))
    const plan = plans.find((each) => each.model === model)
    if (plan === undefined) throw new Error(`no plan for ${path}`)
    const stated = ['max_tokens', 'max_output_tokens'].map((name) => pick(request, name))
    const most = Number([...stated, pick(request, 'generationConfig', 'maxOutputTokens')].find(Boolean) ?? 0)
    const isHidden = plan.kind === 'hidden prompt' || plan.kind === 'long answer'
    const prompt = plan.kind === 'long answer' ? 10 : 10 + Math.ceil(plan.tokens * (isHidden ? 1 : Math.random()))
    const answer = plan.kind === 'long answer' ? Math.min(most, answerTokensMax) : 1
    bills.get(model)?.push(prompt * price.input + answer * price.output)
    await exchange.pause(Math.random() * 30)
    await exchange.write(reply(200, JSON.stringify(answerOf(plan.format, prompt, answer))))
  })
  return Object.assign(upstream, { [Symbol.dispose]: () => upstream.stop() })
}

function answerOf(format: Format, prompt: number, answer: number): object {
  const usage = { input_tokens: prompt, output_tokens: answer, total_tokens: prompt + answer }
  const [id, model, role] = ['a1', 'm', 'assistant'] as const
  switch (format) {
    case 'chat':
      return completion('text', {
        top: { usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer } },
      })
    case 'messages':
      return {
        ...{ id, type: 'message', role, model, content: [{ type: 'text', text: 'text' }] },
        ...{ stop_reason: 'end_turn', stop_sequence: null, usage },
      }
    case 'responses': {
      const content = [{ type: 'output_text', text: 'text', annotations: [] }]
      const output = [{ id, type: 'message', role, status: 'completed', content }]
      return { id, object: 'response', created_at: 1, status: 'completed', model, output, usage }
    }
    case 'gemini':
      return {
        candidates: [{ content: { role: 'model', parts: [{ text: 'text' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: answer, totalTokenCount: prompt + answer },
      }
  }
}

interface Services extends AsyncDisposable {
  readonly all: readonly ServiceUnderTest[]
}

async function startAll(topology: BoundTopology, plans: readonly Plan[], url: string): Promise<Services> {
  await using stack = new AsyncDisposableStack()
  const modelsOf = (format: Format) =>
    plans
      .filter((plan) => plan.format === format)
      .map(({ model, knowsContext }) => ({
        name: model,
        price: { input: price.input / 1e3, output: price.output / 1e3 },
        ...(knowsContext ? { context: contextTokens } : {}),
      }))
  const config: ServiceConfig = {
    providers: [
      { id: 'chat', base_url: url, models: modelsOf('chat') },
      { id: 'responses', base_url: url, formats: ['responses'], models: modelsOf('responses') },
      { id: 'messages', protocol: 'anthropic', base_url: url, models: modelsOf('messages') },
      { id: 'gemini', protocol: 'gemini', base_url: url.replace('/v1', '/v1beta'), models: modelsOf('gemini') },
    ].filter(({ models }) => models.length > 0),
  }
  const limits = plans.map(({ model, limit, isHard }) => {
    return { for: 'everyone', usd: limit / 1e9, per: 'total', models: [model], hard: isHard }
  })
  const files = { 'access.json': JSON.stringify({ limits }) }
  const flags = topology === 'one process' ? [] : ['--workers', '2']
  const start = async (...more: readonly string[]) =>
    stack.use(await startService(config, { flags: [...flags, ...more], files }))
  const all: ServiceUnderTest[] = []
  if (topology === 'two machines') {
    const { url: store } = stack.use(await startRedisServer())
    all.push(await start('--store', store), await start('--store', store))
  } else all.push(await start())
  const running = stack.move()
  return { all, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

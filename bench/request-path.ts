import { assembleGateway } from '../src/app/assemble.ts'
import { capacityOf } from '../src/app/capacity.ts'
import { readTimers } from '../src/app/timers.ts'
import { parseConfig } from '../src/config/file/parse-config.ts'
import { openRequests } from '../src/http/entrance/admission.ts'
import { apiRoutes } from '../src/http/entrance/api-call.ts'
import type { HandlerContext } from '../src/http/handler-context.ts'
import type { RequestRecord } from '../src/observe/record.ts'
import type { Tracer } from '../src/observe/trace.ts'
import { unlimitedAnswerBudget } from '../src/service/answer-budget.ts'
import { healthBook } from '../src/service/health/health.ts'
import type { Transport } from '../src/transport/transport.ts'
import { governed } from './governed.ts'
import { benchPrice } from './proxies/svc-with-keys.ts'
import { chatPath, modelName, promptOf } from './upstream-protocol.ts'

/** The path of a plain request in this process, from its headers to its record, with an upstream in memory. */
export interface RequestPath {
  /** Sends one request, and reads its answer. */
  ask(): Promise<void>
  close(): Promise<void>
}

const answer = new TextEncoder().encode(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: modelName,
    choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(800) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 300, completion_tokens: 200, total_tokens: 500 },
  }),
)

const transport: Transport = {
  request: () =>
    Promise.resolve({
      status: 200,
      headers: new Map([['content-type', 'application/json']]),
      body: {
        read: () => Promise.resolve(undefined),
        readAll: () => Promise.resolve(Buffer.from(answer)),
        hasPendingBytes: () => false,
        cancel: () => undefined,
        endsWithConnection: false,
      },
    }),
  connections: { active: 0, idle: 0 },
  close: () => undefined,
}

export interface PathOptions {
  readonly hasKeys?: boolean
  /** Traces its requests. Absent: they are not traced. */
  readonly tracer?: Tracer
  /** Takes the records of its requests. Absent: the ledger takes them, if they have keys. */
  readonly record?: (record: RequestRecord) => void
}

/** Makes the path with or without a key, four limits and the records for the ledger. */
export async function requestPath({ hasKeys = false, tracer, record }: PathOptions = {}): Promise<RequestPath> {
  const { key, recognise, limits, money, tokenSizes, recorder, close } = await governed()
  const models = [{ name: modelName, price: benchPrice }]
  const provider = { id: 'mock', protocol: 'openai', base_url: 'http://127.0.0.1:9/v1', models }
  const config = parseConfig(JSON.stringify({ providers: [provider] }), { file: 'bench', environment: {} })
  const gateway = assembleGateway(config, {
    transport,
    health: healthBook(() => performance.now()),
    answerBudget: unlimitedAnswerBudget,
    ...(hasKeys ? { budgets: () => money } : {}),
    log: { debug() {}, warn: console.error },
  })
  const open = openRequests()
  const route = apiRoutes({
    gateway: () => gateway,
    bodyLimits: () => ({ bytesMax: config.limits.bodyBytes, totalMs: 60_000, idleMs: 30_000 }),
    deadlineMs: () => config.limits.deadlineMs,
    ...capacityOf({
      limits: config.limits,
      upstreams: { ...transport, dropIdle() {} },
      openRequests: open,
      workers: 1,
    }),
    timers: readTimers({}),
    openRequests: open,
    ...(hasKeys ? { limiter: () => limits } : {}),
    tokenSizes,
    streamsOpen: { add() {} },
    ...(tracer === undefined ? {} : { tracer: () => tracer }),
    record: record ?? (hasKeys ? recorder.add : () => undefined),
  }).find(({ path }) => path === chatPath)
  if (route === undefined) throw new Error('no route')
  const { handle } = route
  const body = JSON.stringify({ model: modelName, messages: [{ role: 'user', content: promptOf(1_000) }] })
  // As over a socket: a body of unknown length is read as a stream, which costs more.
  const length = { 'content-length': String(body.length) }
  const headers = { 'content-type': 'application/json', ...length, authorization: `Bearer ${key}` }

  return {
    async ask() {
      const request = new Request(`http://127.0.0.1:9${chatPath}`, { method: 'POST', headers, body })
      const found = hasKeys ? recognise({ request, path: chatPath, address: '127.0.0.1', id: '' }) : undefined
      const context: HandlerContext = {
        request,
        caller: (found instanceof Promise ? await found : found) ?? {},
        path: chatPath,
        id: Bun.randomUUIDv7(),
        started: performance.now(),
        address: () => '127.0.0.1',
        peerPort: () => 1,
        currentCaller: () => Promise.resolve({}),
        keepOpen() {},
        resetIdleLimit() {},
        extendIdleLimit() {},
        drop() {},
      }
      const response = await handle(context)
      if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
    },
    close,
  }
}

/** User time of a request within this process, which other programs on the machine disturb little, in microseconds. */
export async function userUs({ ask }: RequestPath, requests = 10_000): Promise<number> {
  const before = process.cpuUsage().user
  for (let request = 0; request < requests; request += 1) await ask()
  return (process.cpuUsage().user - before) / requests
}

/**
 * One stage between a raw relay and the service: `stage-server.ts STAGE PORT UPSTREAM_PORT`. Each has the pieces of svc
 * of the stage before, and one more. Not for use: they lack limits and the handling of failures.
 */
import { assembleGateway } from '../src/app/assemble.ts'
import { capacityOf } from '../src/app/capacity.ts'
import { readTimers } from '../src/app/timers.ts'
import { serverSentEvents } from '../src/bytes/framing.ts'
import { parseConfig } from '../src/config/file/parse-config.ts'
import type { Ask } from '../src/formats/ask.ts'
import { formats } from '../src/formats/format-list.ts'
import type { PartStream, WholeReply } from '../src/formats/reply.ts'
import { openRequests } from '../src/http/entrance/admission.ts'
import { apiRoutes } from '../src/http/entrance/api-call.ts'
import { originPolicy } from '../src/http/origin-policy.ts'
import { router, type Route } from '../src/http/route.ts'
import { startServer } from '../src/http/server.ts'
import { LearnedSizes } from '../src/prices/token-sizes.ts'
import { anyTarget, LearnedProfile } from '../src/profiles/resolve-profile.ts'
import { protocols } from '../src/protocols/protocol-list.ts'
import { unlimitedAnswerBudget } from '../src/service/answer-budget.ts'
import { healthBook } from '../src/service/health/health.ts'
import { type Call, callController } from '../src/service/service.ts'
import { headerBlock, parseOrigin } from '../src/transport/header-block.ts'
import { httpClient } from '../src/transport/http-client.ts'
import type { UpstreamBody } from '../src/transport/transport.ts'
import { upstreamExchange } from '../src/upstream/exchange.ts'
import { upstreamAt } from '../src/upstream/upstream.ts'
import { chatPath, modelName } from './upstream-protocol.ts'

const [stage = '', portText = '', upstreamPort = ''] = process.argv.slice(2)
const port = Number(portText)
const hostname = '127.0.0.1'
const baseUrl = `http://${hostname}:${upstreamPort}/v1`
const { chat } = formats
const config = parseConfig(
  JSON.stringify({ providers: [{ id: 'mock', protocol: 'openai', base_url: baseUrl, models: [modelName] }] }),
  { file: 'stage-server.ts', environment: {} },
)
const [provider] = config.providers
if (provider === undefined) throw new Error('no provider')
const endpoint = { ...provider, apiKey: provider.apiKey, profile: anyTarget }
const connectMs = 10_000

const transport = httpClient()
const origin = { ...parseOrigin(new URL(baseUrl)), owner: 'mock' }
const headers = headerBlock({ 'content-type': 'application/json' })
const exchange = upstreamExchange({
  upstream: upstreamAt({ transport, protocol: protocols.openai, endpoint, connectMs }),
  model: modelName,
  profile: new LearnedProfile(anyTarget),
  idleMs: provider.timeouts.idleMs,
  answerBudget: unlimitedAnswerBudget,
})
const gateway = assembleGateway(config, {
  transport,
  health: healthBook(() => performance.now()),
  answerBudget: unlimitedAnswerBudget,
  log: { debug() {}, warn: console.error },
})

type Answer = (body: Uint8Array, request: Request) => Promise<Response>

function newCall(): Call {
  return { signal: callController().signal, trail: [] }
}

function check(body: Uint8Array, request: Request): Ask {
  return chat.check(body, { path: chatPath, headers: request.headers, parameter: () => null })
}

/** Sends a body, and answers with the upstream's answer. `note` gets the bytes of a stream. */
async function relay(body: readonly Uint8Array[], note: (bytes: Uint8Array) => void): Promise<Response> {
  const limits = { connectMs, bodyBytesMax: Number.POSITIVE_INFINITY }
  const sent = { origin, method: 'POST', path: chatPath, headers, body, ...limits } as const
  const { body: answer, headers: received } = await transport.request(sent, callController().signal)
  if (received.get('content-type') !== 'text/event-stream') return json(await answer.readAll())
  return events(async () => {
    const bytes = await answer.read()
    if (bytes !== undefined) note(bytes)
    return bytes
  })
}

function json(body: Uint8Array): Response {
  return new Response(Buffer.from(body), { headers: { 'content-type': 'application/json' } })
}

/** A stream that is written as the service writes it: directly, at the pace of its reader. */
function events(read: UpstreamBody['read']): Response {
  const body: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    async pull(sink) {
      for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
        const written = sink.write(bytes)
        if (written instanceof Promise) await written
      }
    },
  }
  return new Response(new ReadableStream(body), { headers: { 'content-type': 'text/event-stream' } })
}

function responseOf(reply: WholeReply | PartStream): Response {
  return reply.kind === 'whole' ? json(reply.body) : events(framed(reply))
}

/** The bytes of a stream's parts, then its end marker. */
function framed(reply: PartStream): UpstreamBody['read'] {
  const format = chat.stream
  if (format === undefined) throw new Error('chat completions without streams')
  let isOver = false
  return async () => {
    if (isOver) return undefined
    const parts = await reply.read()
    if (parts !== undefined) return format.frame(parts)
    isOver = true
    return format.end
  }
}

function checked(body: Uint8Array, request: Request): Promise<Response> {
  const ask = check(body, request)
  const reader = serverSentEvents.reader({ eventBytesMax: 1024 * 1024 })
  return relay(chat.passThrough.write(ask, modelName, endpoint), (bytes) => void reader.push(bytes))
}

const [assembled] = gateway.assembled
const candidate = assembled?.provider.candidate(modelName)
if (candidate === undefined) throw new Error('no candidate')

/** The stages on a bare `Bun.serve`. */
const answers: Readonly<Partial<Record<string, Answer>>> = {
  transport: (body) => relay([body], () => {}),
  checked,
  exchange: async (body, request) => responseOf(await exchange(check(body, request), newCall())),
  layers: async (body, request) => responseOf(await candidate.answer(check(body, request), newCall())),
  gateway: answerByGateway,
}

async function answerByGateway(body: Uint8Array, request: Request): Promise<Response> {
  return responseOf((await gateway.answer(check(body, request), newCall())).reply)
}

function serveRoutes(routes: readonly Route[]): void {
  const origins = originPolicy({ isGuarded: false, isLoopback: true, ownOrigins: [], corsOrigins: [] })
  const routing = { router: router(routes), guards: [], origins }
  const fixed = { isPortShared: false, isClosing: () => false, onInternalError: console.error }
  startServer({ host: hostname, port, routing: () => routing, ...fixed })
}

function entranceRoutes(): readonly Route[] {
  const requests = openRequests()
  return apiRoutes({
    gateway: () => gateway,
    bodyLimits: () => ({ bytesMax: config.limits.bodyBytes, totalMs: 60_000, idleMs: 30_000 }),
    deadlineMs: () => config.limits.deadlineMs,
    ...capacityOf({ limits: config.limits, upstreams: transport, openRequests: requests, workers: 1 }),
    timers: readTimers({}),
    openRequests: requests,
    tokenSizes: new LearnedSizes(),
    streamsOpen: { add() {} },
    record() {},
  })
}

const answer = answers[stage]
if (answer !== undefined)
  Bun.serve({
    hostname,
    port,
    development: false,
    idleTimeout: 75,
    fetch: async (request) => answer(await request.bytes(), request),
  })
else if (stage === 'server') {
  const handle: Route['handle'] = async ({ request }) => answerByGateway(await request.bytes(), request)
  serveRoutes([{ method: 'POST', path: chatPath, isPublic: true, format: chat, handle }])
} else if (stage === 'entrance') serveRoutes(entranceRoutes())
else throw new Error(`stage: found '${stage}'`)

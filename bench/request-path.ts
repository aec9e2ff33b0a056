import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleGateway } from '../src/app/assemble.ts'
import { capacityOf } from '../src/app/capacity.ts'
import { readTimers } from '../src/app/timers.ts'
import { parseAccess } from '../src/config/file/parse-access.ts'
import { parseConfig } from '../src/config/file/parse-config.ts'
import { keyBook } from '../src/extensions/keys/key-book.ts'
import { keyRecogniser } from '../src/extensions/keys/recognise.ts'
import { apiRoutes } from '../src/http/entrance/api-call.ts'
import { openRequests } from '../src/http/entrance/open-requests.ts'
import type { HandlerContext } from '../src/http/handler-context.ts'
import { makeKey, parseKeyRequest } from '../src/keys/manage-keys.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { useRecorder, type UseRecorder } from '../src/ledger/use/use-recorder.ts'
import type { UseThread } from '../src/ledger/use/use-thread-link.ts'
import { localBudgetAuthority } from '../src/limits/budgets/budget-authority.ts'
import { moneyLimits } from '../src/limits/budgets/money-limits.ts'
import { openHolds } from '../src/limits/budgets/open-holds.ts'
import { limiter } from '../src/limits/limiter.ts'
import { learnedSizes } from '../src/prices/token-sizes.ts'
import { unlimitedAnswerBudget } from '../src/service/answer-budget.ts'
import { healthBook } from '../src/service/health/health.ts'
import type { Transport } from '../src/transport/transport.ts'
import { benchLimits, benchPrice } from './proxies/svc-with-keys.ts'
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

/** A thread that takes all that it gets. */
function idleThread(): UseThread {
  let listener: Parameters<UseThread['onResult']>[0] | undefined
  return {
    write: () => queueMicrotask(() => listener?.({})),
    setZone() {},
    close: () => Promise.resolve(),
    onResult(next) {
      listener = next
    },
    onReady() {},
    onEnd() {},
  }
}

/** Makes the path with or without a key, four limits and the records for the ledger. */
export async function requestPath(hasKeys: boolean): Promise<RequestPath> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const ledger = await openLedger({ path: join(folder, 'svc.db') })
  const maker = { by: 'bench', now: Date.now() }
  const { key } = await makeKey(ledger.keys, parseKeyRequest({ name: 'bench' }), maker)
  const recognise = keyRecogniser({
    book: await keyBook(ledger.keys, () => undefined),
    clients: { addressOf: () => new Uint8Array([127, 0, 0, 1]) },
    now: Date.now,
    onUse: () => undefined,
    refusalOf: () => undefined,
  })
  const policy = parseAccess(JSON.stringify({ limits: benchLimits }), 'access.json')
  const limits = limiter({ clock: () => performance.now() })
  limits.replace(policy)
  const tokenSizes = learnedSizes()
  const authority = localBudgetAuthority({ spending: { sumSince: () => Promise.resolve(0) }, now: Date.now })
  const money = moneyLimits({ authority, now: Date.now, tokenSizes, openHolds: openHolds() })
  money.replace(policy)
  const recorder: UseRecorder = useRecorder({ start: idleThread, onTrouble() {}, onLost() {} })
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
      limits: () => config.limits,
      upstreams: { ...transport, dropIdle() {} },
      openRequests: open,
      workers: 1,
    }),
    timers: readTimers({}),
    openRequests: open,
    ...(hasKeys ? { limiter: () => limits } : {}),
    tokenSizes,
    streamsOpen: { add() {} },
    record: hasKeys ? recorder.add : () => undefined,
  }).find(({ path }) => path === chatPath)
  if (route === undefined) throw new Error('no route')
  const { handle } = route
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const body = JSON.stringify({ model: modelName, messages: [{ role: 'user', content: promptOf(1_000) }] })

  return {
    async ask() {
      const request = new Request(`http://127.0.0.1:9${chatPath}`, { method: 'POST', headers, body })
      const context: HandlerContext = {
        request,
        path: chatPath,
        id: crypto.randomUUID(),
        started: performance.now(),
        address: () => '127.0.0.1',
        peerPort: () => 1,
        currentVisitor: () => Promise.resolve({}),
        keepOpen() {},
        resetIdleLimit() {},
        extendIdleLimit() {},
        drop() {},
      }
      const found = hasKeys ? recognise({ request, path: chatPath, address: '127.0.0.1', id: '' }) : undefined
      const visitor = found instanceof Promise ? await found : found
      const response = await handle(visitor === undefined ? context : { ...context, visitor })
      if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
    },
    async close() {
      await recorder.close()
      await ledger.close()
      rmSync(folder, { recursive: true })
    },
  }
}

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Channel, type ArgumentOf, type Handlers, type ResultOf } from '../../cluster/channel.ts'
import type { AskedBudget } from '../../limits/budgets/opened-budgets.ts'
import { noAttempts } from '../../observe/provider-attempts.ts'
import type { HealthEvent } from '../../service/health/health-event.ts'
import type { PrimaryHandlers, WorkerHandlers } from './worker-messages.ts'

/** An argument and a result for every function of one side; without one of them it does not compile. */
type Samples<Of extends Handlers> = {
  readonly [Name in keyof Of]: readonly [argument: ArgumentOf<Of, Name>, result: ResultOf<Of, Name>]
}

const event: HealthEvent = {
  kind: 'failed',
  provider: 'a',
  target: 'openai https://a',
  model: 'm',
  failure: 'rate_limit',
  retryAfterMs: 5_000,
  restrictions: { coolDownMs: 1_000, breaker: { remainingMs: 0, stepMs: 1_000 } },
}
const request = {
  time: 1,
  id: 'r',
  api: 'chat',
  model: 'm 🌅',
  stream: true,
  status: 200,
  trail: [{ name: 'a', status: 503, failure: 'server_error', ms: 1.5 }],
  totalMs: 2.25,
}
const entry = { ...request, trail: [{ provider: 'a', status: 503, failure: 'server_error', ms: 1.5 }] }
const minute = {
  time: 60_000,
  requests: 1,
  errors: 0,
  promptTokens: 3,
  completionTokens: 4,
  isEstimated: true,
  firstTokenP50: 5,
} as const
const gauges = { streamsOpen: 1, logLinesDropped: 2, recordsDropped: 3, residentBytes: 1e9, cpuSeconds: 1 }
const bounds = { ttlMs: 1_000, valuesMax: 10, valuesPerOwnerMax: 5 }

const budget: AskedBudget = {
  kind: 'usd',
  text: 'everyone, in total',
  key: 'everyone',
  most: 1e9,
  isOpenWhenAway: true,
  window: { start: 0, end: Infinity },
  activeSince: 1,
  scope: { subject: { kind: 'everyone' }, caller: '', members: [], models: ['m*'] },
}
const spec = {
  key: 'requests',
  kind: 'requests',
  most: 5,
  perMs: 60_000,
  subject: 'everyone',
  text: '5 a minute',
} as const
const state = { lease: 2, remaining: 1, resetMs: 1.5 }

const held = { amount: 5, isShort: false, dearest: 0 }

const runningOne = {
  time: 5,
  id: 'r',
  api: 'chat',
  model: 'm',
  stream: true,
  user: 'ann',
  trail: [],
  asking: { provider: 'a', ms: 5 },
}

const head = { status: 200, headers: { 'content-type': 'text/event-stream' } }

const reports = new Map([
  ['requests', { returned: -2, mayReturn: true }],
  ['b', { returned: -3, mayReturn: false, money: { spent: 1, opened: 2, dearest: 1, raised: 0, endsShort: true } }],
])

const toPrimary: Samples<PrimaryHandlers> = {
  welcome: [undefined, { port: 4000, workers: 2, isReplacement: true, healthEvents: [event] }],
  listening: [{ port: 4000, lines: 'svc listens\n' }, undefined],
  leftPort: [undefined, undefined],
  follow: ['/etc/providers.json', { text: '{"providers":[]}' }],
  unfollow: ['/etc/providers.json', undefined],
  reload: ['/etc/providers.json', true],
  reloadAll: [undefined, undefined],
  roll: [undefined, undefined],
  takeRecords: [{ source: 's', number: 1, count: 1, records: JSON.stringify([request]), gauges }, undefined],
  metricsText: [undefined, '# HELP svc_requests_total\n'],
  rememberedRequests: [
    { scope: { id: 'u' }, after: 1 },
    { mark: 2, requests: [entry], minutes: [minute] },
  ],
  findRequest: [{ scope: 'all users', id: 'r' }, entry],
  allRunning: ['r', { count: 1, requests: [runningOne] }],
  recentCallers: [undefined, [{ name: 'key:a', key: { line: 2 }, person: { id: 'github:1', name: 'ann' } }]],
  attemptsAt: [['a', 'b'], new Map([['a', noAttempts]])],
  followRequests: [true, undefined],
  store: [{ kind: 'set', store: 's', bounds, key: 'k', value: { a: [null] }, owner: 'o' }, { value: { a: [null] } }],
  claimAccounts: [
    [
      { spec, amount: 1, recent: 0 },
      { spec: budget, amount: 5, alone: 2, recent: 0 },
    ],
    { refused: { index: 0, waitMs: Infinity, isBusy: true }, counters: [state, { ...state, held }] },
  ],
  reportLeases: [reports, undefined],
  healthEvent: [event, undefined],
  readAnswer: [
    { owner: 'id:1', id: 'a', from: 7 },
    { head, bytes: new Uint8Array([0, 255]), isLast: false },
  ],
  claimAnswer: [{ owner: '', id: 'a' }, true],
  releaseAnswer: [{ owner: '', id: 'a' }, undefined],
  stopAnswer: [{ owner: '', id: 'a' }, undefined],
  targets: [new Map([['a', 'openai https://a']]), undefined],
  isServing: [undefined, true],
  probe: [11434, ['llama']],
  setUseZone: ['Europe/Berlin', undefined],
  useWebhook: [{ url: 'https://hooks.test/', secret: 'AAAA' }, undefined],
  alert: [{ identity: 'i', type: 'model.served', data: { model: 'm', n: 1 } }, undefined],
  keepUse: [{ kind: 'file', path: '/home/ann/.svc/svc.db' }, undefined],
  buildPage: [undefined, undefined],
  spentSince: [{ scope: budget.scope, since: 5 }, 7],
  budgetUses: [[budget], [{ used: 1, held: 2 }]],
}

const toWorker: Samples<WorkerHandlers> = {
  drain: ['SIGTERM', undefined],
  ping: [undefined, undefined],
  takeFile: [{ path: '/etc/providers.json', content: {}, isReporter: true }, true],
  runningRequests: ['r', { count: 1, requests: [runningOne] }],
  flushRecords: [undefined, undefined],
  requestsRecorded: [7, undefined],
  healthEvent: [event, undefined],
  readAnswer: [{ owner: '', id: 'a', from: 0 }, undefined],
  stopAnswer: [{ owner: '', id: 'a' }, undefined],
  callBackLeases: [['requests', 'b'], reports],
}

const samples = [...Object.entries(toPrimary), ...Object.entries(toWorker)]

/** A process whose functions return their arguments. */
const echo = `
  const { Channel } = await import(${JSON.stringify(new URL('../../cluster/channel.ts', import.meta.url).pathname)})
  const functions = Object.fromEntries(process.env.NAMES.split(' ').map((name) => [name, (argument) => argument]))
  const end = new Channel((message) => void process.send(message), functions, () => undefined)
  process.on('message', (message) => end.receive(message))
  process.send('ready')
`

type Echo = Readonly<Record<string, (argument: unknown) => unknown>>

let end: Channel<Echo>
let child: ReturnType<typeof Bun.spawn>

beforeAll(async () => {
  const ready = Promise.withResolvers<void>()
  child = Bun.spawn([process.execPath, '-e', echo], {
    env: { ...process.env, NAMES: samples.map(([name]) => name).join(' ') },
    stdio: ['ignore', 'inherit', 'inherit'],
    serialization: 'advanced',
    ipc(message: unknown) {
      if (message === 'ready') ready.resolve()
      else end.receive(message)
    },
  })
  end = new Channel<Echo>(
    (message) => child.send(message),
    {},
    () => undefined,
  )
  await ready.promise
})

afterAll(async () => {
  child.kill()
  await child.exited
})

describe('a message between primary and workers', () => {
  test.each(samples)('is the same in the other process: %s', async (name, [argument, result]) => {
    expect(await end.call(name, argument)).toEqual(argument)
    expect(await end.call(name, result)).toEqual(result)
  })

  test('that is not of the channel, or of no known function, changes nothing', async () => {
    const odd = fc.record(
      {
        kind: fc.constantFrom('call', 'notify', 'result', 'error', 'else'),
        id: fc.oneof(fc.nat(), fc.anything()),
        name: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString')),
        argument: fc.jsonValue(),
        value: fc.jsonValue(),
        message: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(odd, fc.anything()), (message) => {
        const own = new Channel(
          () => undefined,
          { known: () => 'result' },
          () => undefined,
        )
        expect(() => own.receive(message)).not.toThrow()
      }),
      { numRuns: 200 },
    )
    for (const message of fc.sample(
      odd.map((each) => ({ ...each, id: -1 })),
      50,
    ))
      child.send(message)
    expect(await end.call('ping', 'still there')).toBe('still there')
  })
})

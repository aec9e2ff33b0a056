import { faultUpstream, type FaultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import { chunk, completion, event, framed, reply, streamHead } from '../../test/fakes/replies.ts'
import { provider, startService, type ServiceConfig, type ServiceUnderTest } from '../../test/harness.ts'
import { misbehavingClients, type MisbehavingClients } from './misbehaving-clients.ts'
import { closedLoad, watchHealth, type HealthOutcome, type LoadOutcome } from './overload-load.ts'

/** Results of ten times the load, compared with the best load. */
export interface Overload {
  /** Goodput at the best load and at ten times that load: medians of the rounds. */
  readonly best: number
  readonly overloaded: number
  /** Median of the ratio within each round: disturbances of the machine last for seconds and affect both. */
  readonly ratio: number
  /** The same ratio of the same load without the service, straight at the upstream; what the load itself costs. */
  readonly ratioWithout: number
  /** The last round at ten times the load. */
  readonly outcome: LoadOutcome
  readonly health: HealthOutcome
  /** Results other than 200 and 503, of all rounds. */
  readonly odd: readonly string[]
}

/** Good traffic alone, and beside misbehaving clients. */
export interface Beside {
  readonly before: LoadOutcome
  readonly beside: LoadOutcome
  readonly after: LoadOutcome
  readonly health: HealthOutcome
}

const answer = Buffer.from(reply(200, JSON.stringify(completion('hello'))))
const endless = Buffer.from(framed(event(chunk({ content: 'x'.repeat(4_096) }))))

type Model = 'quick' | 'slow' | 'endless'

function scriptsOf(answerMs: number): Readonly<Record<Model, Script>> {
  return {
    quick: (exchange) => exchange.write(answer),
    async slow(exchange) {
      await exchange.pause(answerMs)
      await exchange.write(answer)
    },
    async endless(exchange) {
      await exchange.write(streamHead)
      for (;;) await exchange.write(endless)
    },
  }
}

const manyfold = 10

function bodyOf(model: Model, stream = false): string {
  return JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'y'.repeat(900) }],
    ...(stream ? { stream } : {}),
  })
}

interface Rig extends AsyncDisposable {
  readonly service: ServiceUnderTest
  readonly upstreams: ReadonlyMap<string, FaultUpstream>
}

/** Starts the service with three upstreams, each with a model of its own name. */
async function startRig(limits?: ServiceConfig['limits'], answerMs = 0): Promise<Rig> {
  const upstreams = new Map<string, FaultUpstream>(
    Object.entries(scriptsOf(answerMs)).map(([name, script]) => [name, faultUpstream(script)]),
  )
  const providers = Array.from(upstreams, ([name, { url }]) => provider(name, url, [name]))
  const service = await startService(
    { providers, ...(limits === undefined ? {} : { limits }) },
    { flags: ['--log-level', 'warn'] },
  )
  // The upstreams run in this process and keep their requests: that would take more memory than the service.
  const forgetting = setInterval(() => {
    for (const upstream of upstreams.values()) upstream.forget()
  }, 250)
  return {
    service,
    upstreams,
    async [Symbol.asyncDispose]() {
      clearInterval(forgetting)
      for (const upstream of upstreams.values()) upstream.stop()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** Measures without limits: the number of connections with the best goodput, against ten times as many. */
export async function asFastAsItGoes(roundMs: number, rounds: number): Promise<Overload> {
  await using rig = await startRig()
  const { port } = rig.service
  const load = (to: number, connections: number): Promise<LoadOutcome> =>
    closedLoad({ port: to, body: bodyOf('quick'), connections, ms: roundMs })
  await load(port, 16)
  const tried: { readonly connections: number; readonly goodput: number }[] = []
  for (const connections of [16, 32, 64]) tried.push({ connections, goodput: (await load(port, connections)).goodput })
  const [best] = tried.toSorted((one, another) => another.goodput - one.goodput)
  const connections = best?.connections ?? 16
  const without = portOf(rig, 'quick')
  return await compare(port, rounds, {
    normal: () => load(port, connections),
    excessive: () => load(port, connections * manyfold),
    async ratioWithout() {
      const { goodput } = await load(without, connections)
      return (await load(without, connections * manyfold)).goodput / goodput
    },
  })
}

function portOf({ upstreams }: Rig, model: Model): number {
  return Number(new URL(upstreams.get(model)?.url ?? '').port)
}

/** `max_concurrent`, and the time in which the upstream answers. */
export interface Limited {
  readonly max: number
  readonly answerMs: number
}

/**
 * Measures ten times the load that `max_concurrent` allows. A refused client repeats its request after the time of an
 * answer.
 */
export async function beyondTheLimit(roundMs: number, rounds: number, { max, answerMs }: Limited): Promise<Overload> {
  await using rig = await startRig({ max_concurrent: max }, answerMs)
  const { port } = rig.service
  const load = (connections: number) =>
    closedLoad({ port, body: bodyOf('slow'), connections, ms: roundMs, pauseMs: { refused: answerMs, answered: 0 } })
  await load(max)
  return await compare(port, rounds, {
    normal: () => load(max),
    excessive: () => load(max * manyfold),
    // These clients mostly wait: the load costs nothing to speak of.
    ratioWithout: () => Promise.resolve(1),
  })
}

interface Loads {
  normal(): Promise<LoadOutcome>
  excessive(): Promise<LoadOutcome>
  ratioWithout(): Promise<number>
}

async function compare(port: number, rounds: number, { normal, excessive, ratioWithout }: Loads): Promise<Overload> {
  const bests: LoadOutcome[] = [],
    overloads: LoadOutcome[] = [],
    ratiosWithout: number[] = []
  let last: { readonly outcome: LoadOutcome; readonly health: HealthOutcome } | undefined
  for (let round = 0; round < rounds; round += 1) {
    bests.push(await normal())
    const watch = await watchHealth(port)
    const outcome = await excessive()
    overloads.push(outcome)
    last = { outcome, health: await watch.stop() }
    ratiosWithout.push(await ratioWithout())
  }
  if (last === undefined) throw new Error('at least one round is needed')
  const ratios = overloads.map(({ goodput }, round) => goodput / (bests[round]?.goodput ?? 1))
  return {
    best: median(bests.map(({ goodput }) => goodput)),
    overloaded: median(overloads.map(({ goodput }) => goodput)),
    ratio: median(ratios),
    ratioWithout: median(ratiosWithout),
    odd: [...bests, ...overloads].flatMap(({ odd }) => odd),
    ...last,
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, another) => one - another)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** Measures sixteen good clients: alone, then beside misbehaving clients, then alone again. */
export async function besideMisbehavingClients(roundMs: number, counts: MisbehavingClients): Promise<Beside> {
  await using rig = await startRig()
  const { port } = rig.service
  const load = () =>
    closedLoad({ port, body: bodyOf('quick'), connections: 16, ms: roundMs, pauseMs: { refused: 0, answered: 5 } })
  await load()
  const before = await load()
  const misbehaving = await misbehavingClients(port, counts, bodyOf('endless', true))
  let beside: LoadOutcome, health: HealthOutcome
  try {
    await whenStuck(rig)
    const watch = await watchHealth(port)
    beside = await load()
    health = await watch.stop()
  } finally {
    misbehaving.stop()
  }
  return { before, beside, after: await load(), health }
}

/** Resolves when the endless streams have stalled because every buffer is full (some 8 MB each), or after 20 s. */
async function whenStuck({ upstreams }: Rig): Promise<void> {
  const ends = performance.now() + 20_000
  let written = -1
  for (;;) {
    const now = upstreams.get('endless')?.bytesWritten ?? 0
    if ((now > 0 && now === written) || performance.now() > ends) return
    written = now
    await Bun.sleep(300)
  }
}

import { histogram, type Histogram } from './histogram.ts'
import { chatRequest, openConnection, type LoadConnection } from './load-connection.ts'

/** A closed-loop load. */
export interface ClosedLoad {
  readonly port: number
  /** JSON body of each request. */
  readonly body: string
  /** Kept-alive connections, each with one request at a time. */
  readonly connections: number
  readonly ms: number
  /** Milliseconds between an answer and the next request, on average: after a 503, and after any other. Default 0. */
  readonly pauseMs?: { readonly refused: number; readonly answered: number }
}

/** Results of {@link closedLoad}. Requests that were still open at the end do not count. */
export interface LoadOutcome {
  /** Answers with 200 per second. */
  readonly goodput: number
  readonly answered: number
  /** Answers with 503 and Retry-After. */
  readonly refused: number
  /** Durations to the end of the answer, microseconds. */
  readonly answeredUs: Histogram
  readonly refusedUs: Histogram
  /** Other statuses, and cut connections. At most ten are kept. */
  readonly odd: readonly string[]
}

/** Sends requests over all connections for `ms`. */
export async function closedLoad({
  port,
  body,
  connections,
  ms,
  pauseMs = { refused: 0, answered: 0 },
}: ClosedLoad): Promise<LoadOutcome> {
  const request = chatRequest(port, body)
  const answeredUs = histogram(),
    refusedUs = histogram()
  const odd: string[] = []
  let answered = 0,
    refused = 0
  const clients = await Promise.all(Array.from({ length: connections }, () => client(port)))
  const ends = performance.now() + ms
  await Promise.all(
    clients.map(async ({ ask, leave }) => {
      // Random starts: with all clients at once the last would only measure their queue.
      if (pauseMs.refused > 0) await Bun.sleep(pauseMs.refused * Math.random())
      while (performance.now() < ends) {
        const { kind, us } = await ask(request, ends)
        if (kind === 'late') break
        if (kind === 'good') {
          answered += 1
          answeredUs.add(us)
        } else if (kind === 'refused') {
          refused += 1
          refusedUs.add(us)
        } else if (odd.push(kind) > 10) break
        const pause = kind === 'refused' ? pauseMs.refused : pauseMs.answered
        // Between 0.5 and 1.5 times the pause, so that clients do not fall in step.
        if (pause > 0) await Bun.sleep(pause * (0.5 + Math.random()))
      }
      leave()
    }),
  )
  return { goodput: answered / (ms / 1000), answered, refused, answeredUs, refusedUs, odd: odd.slice(0, 10) }
}

/** `good`, `refused`, `late` (no answer in time), or another result in words. */
interface Asked {
  readonly kind: string
  readonly us: number
}

interface Client {
  ask(request: string, ends: number): Promise<Asked>
  leave(): void
}

async function client(port: number): Promise<Client> {
  const connection = await openConnection(
    port,
    () => undefined,
    () => undefined,
  )
  return { ask: (request, ends) => askOnce(connection, request, ends), leave: () => connection.leave('reset') }
}

function askOnce(connection: LoadConnection, request: string, ends: number): Promise<Asked> {
  return new Promise((resolve) => {
    const started = performance.now()
    let kind = ''
    const timer = setTimeout(() => resolve({ kind: 'late', us: 0 }), Math.max(0, ends - started))
    const finish = (result: string) => {
      clearTimeout(timer)
      resolve({ kind: result, us: (performance.now() - started) * 1000 })
    }
    connection.ask(request, {
      onHead(status, head) {
        const isRefusal = status === 503 && /\r\nretry-after: \d/i.test(head)
        kind = status === 200 ? 'good' : isRefusal ? 'refused' : `status ${status}`
      },
      onEvent() {},
      onEnd: () => finish(kind),
      onCut: (reason) => finish(`cut: ${reason}`),
    })
  })
}

/** Results of {@link watchHealth}. */
export interface HealthOutcome {
  readonly us: Histogram
  readonly failed: number
}

/** Requests `/health` every 10 ms on its own connection, until `stop`. */
export async function watchHealth(port: number): Promise<{ stop(): Promise<HealthOutcome> }> {
  const us = histogram()
  const { ask, leave } = await client(port)
  const request = `GET /health HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`
  let isOver = false,
    failed = 0
  const watching = (async () => {
    while (!isOver) {
      const answer = await ask(request, performance.now() + 10_000)
      if (answer.kind === 'good') us.add(answer.us)
      else failed += 1
      await Bun.sleep(10)
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      leave()
      return { us, failed }
    },
  }
}

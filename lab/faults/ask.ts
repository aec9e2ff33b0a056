import { answerOf, errorOf, isDone, question, type Answer } from '../../test/client.ts'
import type { FaultUpstream } from '../../test/fakes/fault-upstream.ts'
import { goodText } from '../../test/fakes/good.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { Testbed } from './testbed.ts'

/** Every answer ends within this time, with any fault. */
const answerMsMax = 20_000

export interface Asked {
  /** Default `well`. */
  readonly model?: string
  readonly stream?: boolean
  /** How many tokens to ask for. Default 8. */
  readonly tokens?: number
  /** Name of the tokens. Default: a unique name. */
  readonly name?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** An answer and its expected text. */
export interface Asking {
  readonly answer: Answer
  readonly expected: string
}

let asked = 0

/** Sends a request with a unique text on a new connection, and reads the whole answer. */
export async function ask(
  { service, headers: own }: Pick<Testbed, 'service' | 'headers'>,
  { model = 'well', stream = false, tokens = 8, name = `ask${asked++}`, headers = {}, signal }: Asked = {},
): Promise<Asking> {
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    keepalive: false,
    headers: { 'content-type': 'application/json', ...own, ...headers },
    body: JSON.stringify(
      question({
        model,
        messages: [{ role: 'user', content: `stream=${name} tokens=${tokens}` }],
        ...(stream ? { stream } : {}),
      }),
    ),
    signal: signal ?? AbortSignal.timeout(answerMsMax),
  })
  return { answer: answerOf(response, await response.text()), expected: goodText({ name, tokens }) }
}

/** Demands that an answer is complete and has the expected text, token by token. */
export function demandExact({ answer, expected }: Asking, stream: boolean): void {
  demandEqual(
    [answer.status, errorOf(answer)?.message, answer.content],
    [200, undefined, expected],
    stream ? 'the stream' : 'the answer',
  )
  demand(isDone(answer) === stream, 'a stream ends with [DONE], and nothing else does')
}

/** Id of the provider that answered, without the number that {@link Testbed.offer} adds. */
export function servedBy({ headers }: Pick<Answer, 'headers'>): string | undefined {
  return headers.get('x-svc-provider')?.replace(/-\d+$/, '')
}

/** Demands complete answers for a model, plain and streamed, from the provider `by`. */
export async function demandServed(
  testbed: Pick<Testbed, 'service' | 'headers'>,
  model = 'well',
  by = 'sound',
  kinds: readonly boolean[] = [false, true],
): Promise<void> {
  for (const stream of kinds) {
    const asking = await ask(testbed, { model, stream })
    demandExact(asking, stream)
    demandEqual(servedBy(asking.answer), by, 'the provider that served')
  }
}

/**
 * Demands failover from provider `a`, which has a fault: `b` serves the model `m` each time, and both get the expected
 * number of requests.
 */
export async function demandMovesOn(
  testbed: Testbed,
  a: Pick<FaultUpstream, 'hits'>,
  b: Pick<FaultUpstream, 'hits'>,
  { kinds = [false, true], hits = 1 }: { readonly kinds?: readonly boolean[]; readonly hits?: number } = {},
): Promise<void> {
  const before = [a.hits.length, b.hits.length]
  await demandServed(testbed, 'm', 'b', kinds)
  demandEqual(
    [a.hits.length, b.hits.length].map((count, index) => count - (before[index] ?? 0)),
    [hits * kinds.length, kinds.length],
    'requests at a and b',
  )
}

/** Demands that other callers are served within `msMax` while a fault lasts. */
export async function demandOthersServed(testbed: Pick<Testbed, 'service' | 'headers'>, msMax = 3_000): Promise<void> {
  const started = performance.now()
  await demandServed(testbed)
  const ms = performance.now() - started
  demand(ms <= msMax, `others are served within ${msMax} ms, not ${ms.toFixed(0)}`)
}

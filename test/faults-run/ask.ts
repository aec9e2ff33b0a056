import { answerOf, errorOf, isDone, question } from '../client.ts'
import type { Answer } from '../client.ts'
import type { FaultUpstream } from '../fakes/fault-upstream.ts'
import { goodText } from '../fakes/good.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { Ground } from './ground.ts'

/** Nothing takes longer than this, whatever goes wrong. */
const answerMsMax = 20_000

export interface Asked {
  /** Default `well`. */
  readonly model?: string
  readonly stream?: boolean
  /** How many tokens to ask for. Default 8. */
  readonly tokens?: number
  /** What the tokens are to be called. Default: a name nobody else has. */
  readonly name?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** An answer, and the text that was asked for. */
export interface Asking {
  readonly answer: Answer
  readonly expected: string
}

let asked = 0

/** Asks the service for a text of its own, on a connection of its own, and reads the whole answer. */
export async function ask(
  { service, headers: own }: Pick<Ground, 'service' | 'headers'>,
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

/** Demands that an answer is complete, and the text that was asked for, token by token. */
export function demandExact({ answer, expected }: Asking, stream: boolean): void {
  demandEqual(
    [answer.status, errorOf(answer)?.message, answer.content],
    [200, undefined, expected],
    stream ? 'the stream' : 'the answer',
  )
  demand(isDone(answer) === stream, 'a stream ends with [DONE], and nothing else does')
}

/** Who answered, by the name that the fault gave it. */
export function servedBy({ headers }: Pick<Answer, 'headers'>): string | undefined {
  return headers.get('x-svc-provider')?.replace(/-\d+$/, '')
}

/** Demands that a model is served whole, plain and streamed, by the provider named. */
export async function demandServed(
  ground: Pick<Ground, 'service' | 'headers'>,
  model = 'well',
  by = 'sound',
  kinds: readonly boolean[] = [false, true],
): Promise<void> {
  for (const stream of kinds) {
    const asking = await ask(ground, { model, stream })
    demandExact(asking, stream)
    demandEqual(servedBy(asking.answer), by, 'who served')
  }
}

/**
 * Demands of a fault at provider `a` that `b` serves the model `m` each time, and that each was asked as often as is
 * promised.
 */
export async function demandMovesOn(
  ground: Ground,
  a: Pick<FaultUpstream, 'hits'>,
  b: Pick<FaultUpstream, 'hits'>,
  { kinds = [false, true], hits = 1 }: { readonly kinds?: readonly boolean[]; readonly hits?: number } = {},
): Promise<void> {
  const before = [a.hits.length, b.hits.length]
  await demandServed(ground, 'm', 'b', kinds)
  demandEqual(
    [a.hits.length, b.hits.length].map((count, index) => count - (before[index] ?? 0)),
    [hits * kinds.length, kinds.length],
    'requests at a and b',
  )
}

/** Demands that other callers are served at once, while something goes on. */
export async function demandOthersServed(ground: Pick<Ground, 'service' | 'headers'>, msMax = 3_000): Promise<void> {
  const started = performance.now()
  await demandServed(ground)
  const ms = performance.now() - started
  demand(ms <= msMax, `others are served within ${msMax} ms, not ${ms.toFixed(0)}`)
}

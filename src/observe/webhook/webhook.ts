import { withinMs } from '../../service/within.ts'
import { deliver, Losses, type PostAnswer } from '../deliver.ts'

/*
 * The webhook of access.json (docs/budgets.md#alerts), signed as Standard Webhooks say: the headers `webhook-id`,
 * `webhook-timestamp` and `webhook-signature`. Alerts come from accounts of money (`limits/budgets/thresholds.ts`) and
 * from records (`failing-models.ts`). One message is under way at a time; the others wait here.
 */

/** A message for the webhook. Plain data: it goes to other processes. */
export interface Alert {
  /** Alerts with the same one are the same, also those of other machines. It is not sent. */
  readonly identity: string
  readonly type: 'budget.threshold' | 'model.failing' | 'model.served'
  /** Without prompts, keys and names of people beyond those of a limit's sentence. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Where alerts go. Plain data: it goes to other processes. */
export interface WebhookTarget {
  readonly url: string
  /** The secret, in base64. */
  readonly secret: string
}

export interface WebhookOptions {
  /** Sends a message once. @throws {Error} without an answer */
  readonly post: (headers: Readonly<Record<string, string>>, body: readonly Uint8Array[]) => Promise<PostAnswer>
  /** In base64. */
  readonly secret: string
  /** What was lost, at most once a minute. */
  readonly warn: (message: string, fields: Readonly<Record<string, string | number>>) => void
  /** Unix milliseconds. */
  readonly now: () => number
  /** Default: a timer. */
  readonly wait?: (ms: number) => Promise<void>
}

interface Message {
  readonly id: string
  readonly body: Uint8Array
}

const waitingMax = 100
/** Callers may choose names of models: their alerts leave room for those of budgets. */
const modelsWaitingMax = 50
/** Ids of alerts that are not sent again. */
const idsMax = 10_000
/** Time for the last messages. */
const closeMs = 3_000

/** Sends each alert once. Nothing here throws, and nothing waits for the receiver. */
export class Webhook {
  readonly #options: WebhookOptions
  readonly #key: Uint8Array
  readonly #ending = new AbortController()
  readonly #ids = new Set<string>()
  readonly #waiting: Message[] = []
  readonly #losses: Losses
  #sending: Promise<void> | undefined

  constructor(options: WebhookOptions) {
    this.#options = options
    this.#key = Buffer.from(options.secret, 'base64')
    this.#losses = new Losses((alerts, reason) => options.warn('alerts were lost', { alerts, reason }))
  }

  /** Alerts that were lost. */
  get dropped(): number {
    return this.#losses.total
  }

  send({ identity, type, data }: Alert): void {
    if (this.#ending.signal.aborted) return
    // A receiver learns nothing of the names in an identity.
    const id = `msg_${this.#signed(identity, 'base64url').slice(0, 27)}`
    if (this.#ids.has(id)) return
    if (this.#waiting.length >= (type === 'budget.threshold' ? waitingMax : modelsWaitingMax)) {
      this.#losses.add(1, 'too many wait')
      return
    }
    this.#remember(id)
    const timestamp = new Date(this.#options.now()).toISOString()
    this.#waiting.push({ id, body: Buffer.from(JSON.stringify({ type, timestamp, data })) })
    this.#sending ??= this.#sendAll()
  }

  /** Sends what waits, for at most 3 s. Never rejects. */
  async close(): Promise<void> {
    this.#ending.abort()
    await withinMs(this.#sending ?? Promise.resolve(), closeMs)
    if (this.#sending !== undefined) this.#losses.add(1 + this.#waiting.splice(0).length, 'the service ends')
    this.#losses.flush('the service ends')
  }

  async #sendAll(): Promise<void> {
    const { wait } = this.#options
    for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
      const { id, body } = message
      const { taken, reason = '' } = await deliver([body], {
        post: async (parts) => this.#options.post(this.#headers(id, body), parts),
        isTransient: (status) => status === 429 || status >= 500,
        ending: this.#ending.signal,
        ...(wait && { wait }),
      })
      if (taken !== undefined) continue
      // It was not taken: the same alert may be sent again.
      this.#ids.delete(id)
      this.#losses.add(1, reason)
    }
    this.#sending = undefined
  }

  /** Of one try: its time is signed. */
  #headers(id: string, body: Uint8Array): Readonly<Record<string, string>> {
    const seconds = Math.floor(this.#options.now() / 1_000)
    return {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${this.#signed(Buffer.concat([Buffer.from(`${id}.${seconds}.`), body]), 'base64')}`,
    }
  }

  #signed(content: string | Uint8Array, encoding: 'base64' | 'base64url'): string {
    return new Bun.CryptoHasher('sha256', this.#key).update(content).digest(encoding)
  }

  #remember(id: string): void {
    const [oldest] = this.#ids
    if (this.#ids.size >= idsMax && oldest !== undefined) this.#ids.delete(oldest)
    this.#ids.add(id)
  }
}

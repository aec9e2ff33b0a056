import { errorFields, type Logger } from '../observe/log.ts'
import type { RequestRecord } from '../observe/record.ts'
import type { FailingModels } from '../observe/webhook/failing-models.ts'
import type { Alert, Webhook, WebhookTarget } from '../observe/webhook/webhook.ts'

/** For one message: the receiver may be slow. */
const timeoutMs = 10_000

interface Active {
  readonly webhook: Webhook
  readonly models: FailingModels
  close(): Promise<void>
}

export interface AlertsOptions {
  /** Names the proxy on the way. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Pick<Logger, 'warn'>
}

/** Sends alerts to the webhook of access.json. Without one nothing is loaded, and alerts are dropped. */
export class Alerts {
  readonly #options: AlertsOptions
  #target: WebhookTarget | undefined
  #active: Active | undefined
  /** Changes of the webhook, one after the other. */
  #changing = Promise.resolve()

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  /** Sends to this target from now on. Each worker says it. */
  readonly use = (target: WebhookTarget | undefined): void => {
    if (target?.url === this.#target?.url && target?.secret === this.#target?.secret) return
    this.#target = target
    this.#changing = this.#changing.then(() => this.#change(target))
  }

  /** Sends an alert. */
  readonly send = (alert: Alert): void => {
    if (this.#target !== undefined) void this.#changing.then(() => this.#active?.webhook.send(alert))
  }

  /** Watches the models by a request that has ended. */
  readonly record = (record: RequestRecord): void => {
    const alert = this.#active?.models.add(record)
    if (alert !== undefined) this.send(alert)
  }

  /** Sends what waits, for a short time. */
  async close(): Promise<void> {
    await this.#changing
    await this.#active?.close()
  }

  async #change(target: WebhookTarget | undefined): Promise<void> {
    const before = this.#active
    this.#active = undefined
    try {
      await before?.close()
      if (target !== undefined) this.#active = await started(target, this.#options)
    } catch (error) {
      this.#options.log.warn('no alerts are sent', errorFields(error))
    }
  }
}

/** @throws {Error} if a variable with a proxy has no usable address */
async function started({ url, secret }: WebhookTarget, { environment, log }: AlertsOptions): Promise<Active> {
  const [{ Webhook }, { FailingModels }, { httpPost }, { headerBlock }, { httpClient }] = await Promise.all([
    import('../observe/webhook/webhook.ts'),
    import('../observe/webhook/failing-models.ts'),
    import('./http-post.ts'),
    import('../transport/header-block.ts'),
    import('../transport/http-client.ts'),
  ])
  const transport = httpClient()
  const post = httpPost({ url: new URL(url), owner: 'webhook', transport, environment, timeoutMs, ignoresBody: true })
  const webhook = new Webhook({
    post: (headers, body) => post(headerBlock(headers), body),
    secret,
    warn: log.warn,
    now: Date.now,
  })
  return {
    webhook,
    models: new FailingModels(),
    async close() {
      await webhook.close()
      transport.close()
    },
  }
}

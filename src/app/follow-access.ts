import { ConfigError } from '../config/config.ts'
import type { FollowedFile, FollowFile } from '../config/watch/follow-file.ts'
import { openPolicy, type AccessPolicy, type WebhookEntry } from '../limits/access-policy.ts'
import type { MoneyLimits } from '../limits/budgets/money-limits.ts'
import type { ContentRules } from '../limits/content-rules.ts'
import type { LimitOverview } from '../limits/limit-overview.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Logger } from '../observe/log.ts'
import type { OwnKeys } from '../people/keys/key-host.ts'
import type { Caller } from '../people/person.ts'
import type { LearnedSizes } from '../prices/token-sizes.ts'
import type { Runtime } from './runtime.ts'
import type { SharedLedger } from './shared-ledger.ts'

/** Why a changed file was not applied. */
export interface AccessFault {
  /** Unix milliseconds. */
  readonly time: number
  /** One line for each fault. */
  readonly reason: string
}

/** The parts of a policy that are active with it. `undefined`: it has no limits, or no rules, of that kind. */
interface PolicyParts {
  readonly limiter: Limiter | undefined
  readonly budgets: MoneyLimits | undefined
  readonly content: ContentRules | undefined
}

/** The active access policy. Before access.json is loaded, and without it, nothing is limited or kept. */
export class ActiveAccess {
  #policy: AccessPolicy | undefined
  #parts: PolicyParts = { limiter: undefined, budgets: undefined, content: undefined }
  #fault: AccessFault | undefined

  /** `undefined`: there are no limits of requests, tokens or concurrency. */
  limiter(): Limiter | undefined {
    return this.#parts.limiter
  }

  /** `undefined`: there are no limits of money. */
  budgets(): MoneyLimits | undefined {
    return this.#parts.budgets
  }

  /** `undefined`: no content is kept. */
  contentRules(): ContentRules | undefined {
    return this.#parts.content
  }

  /** `undefined`: there is no file. */
  policy(): AccessPolicy | undefined {
    return this.#policy
  }

  /** Ceilings of the keys that people make for themselves; `undefined`: the defaults. */
  ownKeys(): OwnKeys | undefined {
    return this.#policy?.ownKeys
  }

  /** A changed file that was not applied. */
  fault(): AccessFault | undefined {
    return this.#fault
  }

  /** All limits with their use. @param callers those that limits may count apart, the one that asked last first */
  async overview(callers: readonly Caller[]): Promise<LimitOverview> {
    const { limitOverview } = await import('../limits/limit-overview.ts')
    const { limiter, budgets } = this.#parts
    return limitOverview({ policy: this.#policy ?? openPolicy, limiter, budgets, callers, now: Date.now() })
  }

  replace(policy: AccessPolicy | undefined, parts: PolicyParts): void {
    this.#policy = policy
    this.#parts = parts
    this.#fault = undefined
  }

  refuse(fault: AccessFault): void {
    this.#fault = fault
  }
}

export interface FollowAccessOptions {
  /** Gets the policy of the file. */
  readonly access: ActiveAccess
  /** Path of access.json, which need not exist. */
  readonly path: string
  readonly follow: FollowFile
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Checks a policy against the rest of the service. @throws {ConfigError} when a limit could have no effect */
  readonly check: (policy: AccessPolicy) => void
  /** Makes the limiter, when there is a first limit of requests, tokens or concurrency. */
  readonly makeLimiter: () => Promise<Limiter>
  /** Makes the limits of money, when there is a first one. */
  readonly makeBudgets: () => Promise<MoneyLimits>
  /** Prepares to keep content, when there is a first rule of it. */
  readonly prepareContent: () => Promise<void>
  /** Called after a change was applied, in the reporting process. */
  readonly onChange: () => void
  /** Called with the time zone of each policy. */
  readonly onZone: (zone: string) => void
  /** Called with the webhook of each policy that is applied. */
  readonly onWebhook: (webhook: WebhookEntry | undefined) => void
}

/** access.json, which is followed. */
export class AccessFile {
  readonly #options: FollowAccessOptions
  /** Made once, and kept while a policy does not need them: their counts outlive it. */
  #limiter: Limiter | undefined
  #budgets: MoneyLimits | undefined
  readonly #started = Promise.withResolvers<void>()
  readonly #watch: FollowedFile

  constructor(options: FollowAccessOptions) {
    this.#options = options
    const { access, path, follow, log, onChange } = options
    this.#watch = follow({
      path,
      load: (text) => this.#loadAgain(text),
      apply: async (policy, isReporter) => {
        await this.#apply(policy)
        if (!isReporter) return
        log.info('limits reloaded', { file: path })
        onChange()
      },
      report(error, isReporter) {
        const reason = error instanceof Error ? error.message : String(error)
        access.refuse({ time: Date.now(), reason })
        if (isReporter) log.error('the limits were not reloaded; the previous ones stay active', { reason })
      },
    })
  }

  /** Applies the file for the first time. @throws {ConfigError} for faults */
  async start(): Promise<void> {
    try {
      await this.#apply(await this.#load(await this.#watch.text))
    } catch (error) {
      this.close()
      throw error
    } finally {
      this.#started.resolve()
    }
  }

  /** Checks a text as a reload does, and applies nothing. @throws {ConfigError} */
  async check(text: string): Promise<AccessPolicy> {
    return (await this.#load(text)) ?? openPolicy
  }

  /** As {@link FollowedFile}. */
  reload(): ReturnType<FollowedFile['reload']> {
    return this.#watch.reload()
  }

  close(): void {
    this.#watch.close()
  }

  /** Without a file, neither its parser nor its limits are loaded. */
  async #load(text: string | undefined): Promise<AccessPolicy | undefined> {
    if (text === undefined) return undefined
    const { path, check } = this.#options
    const { parseAccess } = await import('../config/file/parse-access.ts')
    const policy = parseAccess(text, path)
    check(policy)
    return policy
  }

  /** A file that vanishes takes no limit away: an editor or a failed copy may be the cause. */
  async #loadAgain(text: string | undefined): Promise<AccessPolicy | undefined> {
    // Its text of before must not be applied after a change.
    await this.#started.promise
    const { access, path } = this.#options
    if (text !== undefined || access.policy() === undefined) return this.#load(text)
    const allowed = 'a file, which may be {}; the previous limits stay active'
    throw new ConfigError([{ file: path, field: '', found: 'no file any more', allowed }])
  }

  async #apply(policy: AccessPolicy | undefined): Promise<void> {
    const { access, check, makeLimiter, makeBudgets, onZone } = this.#options
    const { limits, timeZone } = policy ?? openPolicy
    const hasMoney = limits.some(({ usd }) => usd !== undefined)
    const hasOthers = limits.some(({ requests, tokens, atOnce }) => (requests ?? tokens ?? atOnce) !== undefined)
    let content: ContentRules | undefined
    onZone(timeZone)
    try {
      content = await this.#contentOf(policy)
      if (hasOthers) this.#limiter ??= await makeLimiter()
      if (hasMoney) this.#budgets ??= await makeBudgets()
      // Sign-in may have been switched off meanwhile.
      if (policy !== undefined) check(policy)
    } catch (error) {
      onZone((access.policy() ?? openPolicy).timeZone)
      throw error
    }
    // At once, from here on: a key never counts in new limits by its old team.
    for (const each of [this.#limiter, this.#budgets]) each?.replace(policy ?? openPolicy)
    access.replace(policy, {
      limiter: hasOthers ? this.#limiter : undefined,
      budgets: hasMoney ? this.#budgets : undefined,
      content,
    })
    this.#options.onWebhook(policy?.webhook)
  }

  /** Without rules, their code is not loaded. */
  async #contentOf(policy: AccessPolicy | undefined): Promise<ContentRules | undefined> {
    if (policy?.content === undefined) return undefined
    await this.#options.prepareContent()
    const { contentRules } = await import('../limits/content-rules.ts')
    return contentRules(policy)
  }
}

/** The limits of money of this process. Their code is loaded only now. */
export async function budgetsHere({
  runtime,
  ledger,
  tokenSizes,
}: {
  readonly runtime: Pick<Runtime, 'storeHolds' | 'makeBudgetAuthority'>
  readonly ledger: Pick<SharedLedger, 'open'>
  readonly tokenSizes: LearnedSizes
}): Promise<MoneyLimits> {
  // Spending is a sum of the ledger.
  await ledger.open()
  const [{ MoneyLimits }, { OpenHolds }] = await Promise.all([
    import('../limits/budgets/money-limits.ts'),
    import('../limits/budgets/open-holds.ts'),
  ])
  const holds = new OpenHolds()
  holds.onChange(runtime.storeHolds(() => holds.sums()))
  const authority = await runtime.makeBudgetAuthority()
  return new MoneyLimits({ authority, now: Date.now, tokenSizes, openHolds: holds })
}

import { ConfigError } from '../config/config.ts'
import type { FollowedFile, FollowFile } from '../config/watch/follow-file.ts'
import { openPolicy, type AccessPolicy } from '../limits/access-policy.ts'
import type { MoneyLimits } from '../limits/budgets/money-limits.ts'
import type { ContentRules } from '../limits/content-rules.ts'
import type { LimitOverview } from '../limits/limit-overview.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Logger } from '../observe/log.ts'
import type { OwnKeys } from '../people/keys/key-host.ts'
import type { Caller } from '../people/person.ts'

export interface FollowAccessOptions {
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
}

/** The active access policy. */
export interface ActiveAccess extends Pick<FollowedFile, 'close' | 'reload'> {
  /** `undefined`: there are no limits of requests, tokens or concurrency. */
  limiter(): Limiter | undefined
  /** `undefined`: there are no limits of money. */
  budgets(): MoneyLimits | undefined
  /** `undefined`: no content is kept. */
  contentRules(): ContentRules | undefined
  /** `undefined`: there is no file. */
  policy(): AccessPolicy | undefined
  /** Ceilings of the keys that people make for themselves; `undefined`: the defaults. */
  ownKeys(): OwnKeys | undefined
  /** All limits with their use. @param callers those that limits may count apart, the one that asked last first */
  overview(callers: readonly Caller[]): Promise<LimitOverview>
  /** A changed file that was not applied. */
  fault(): AccessFault | undefined
  /** Checks a text as a reload does, and applies nothing. @throws {ConfigError} */
  check(text: string): Promise<void>
}

/** Why a changed file was not applied. */
export interface AccessFault {
  /** Unix milliseconds. */
  readonly time: number
  /** One line for each fault. */
  readonly reason: string
}

/** Loads access.json, and again on each change, all or nothing. @throws {ConfigError} for faults at the start */
export async function followAccess({
  path,
  follow,
  log,
  check,
  makeLimiter,
  makeBudgets,
  prepareContent,
  onChange,
  onZone,
}: FollowAccessOptions): Promise<ActiveAccess> {
  let limiter: Limiter | undefined
  let activeLimiter: Limiter | undefined
  let budgets: MoneyLimits | undefined
  let activeBudgets: MoneyLimits | undefined
  let activeContent: ContentRules | undefined
  let active: AccessPolicy | undefined
  let fault: AccessFault | undefined
  const started = Promise.withResolvers<void>()

  /** Without a file, neither its parser nor its limits are loaded. */
  async function load(text: string | undefined): Promise<AccessPolicy | undefined> {
    if (text === undefined) return undefined
    const { parseAccess } = await import('../config/file/parse-access.ts')
    const policy = parseAccess(text, path)
    check(policy)
    return policy
  }

  async function apply(policy: AccessPolicy | undefined): Promise<void> {
    const { limits, timeZone } = policy ?? openPolicy
    const hasMoney = limits.some(({ usd }) => usd !== undefined)
    const hasOthers = limits.some(({ requests, tokens, atOnce }) => (requests ?? tokens ?? atOnce) !== undefined)
    let content: ContentRules | undefined
    onZone(timeZone)
    try {
      content = await contentOf(policy)
      if (hasOthers) limiter ??= await makeLimiter()
      if (hasMoney) budgets ??= await makeBudgets()
      // Sign-in may have been switched off meanwhile.
      if (policy !== undefined) check(policy)
    } catch (error) {
      onZone((active ?? openPolicy).timeZone)
      throw error
    }
    // At once, from here on: a key never counts in new limits by its old team.
    for (const each of [limiter, budgets]) each?.replace(policy ?? openPolicy)
    activeContent = content
    activeLimiter = hasOthers ? limiter : undefined
    activeBudgets = hasMoney ? budgets : undefined
    active = policy
    fault = undefined
  }

  /** Without rules, their code is not loaded. */
  async function contentOf(policy: AccessPolicy | undefined): Promise<ContentRules | undefined> {
    if (policy?.content === undefined) return undefined
    await prepareContent()
    const { contentRules } = await import('../limits/content-rules.ts')
    return contentRules(policy)
  }

  /** A file that vanishes takes no limit away: an editor or a failed copy may be the cause. */
  async function loadAgain(text: string | undefined): Promise<AccessPolicy | undefined> {
    // Its text of before must not be applied after a change.
    await started.promise
    if (text !== undefined || active === undefined) return load(text)
    const allowed = 'a file, which may be {}; the previous limits stay active'
    throw new ConfigError([{ file: path, field: '', found: 'no file any more', allowed }])
  }

  const watch = follow({
    path,
    load: loadAgain,
    async apply(policy, isReporter) {
      await apply(policy)
      if (!isReporter) return
      log.info('limits reloaded', { file: path })
      onChange()
    },
    report(error, isReporter) {
      const reason = error instanceof Error ? error.message : String(error)
      fault = { time: Date.now(), reason }
      if (!isReporter) return
      log.error('the limits were not reloaded; the previous ones stay active', { reason })
    },
  })
  try {
    await apply(await load(await watch.text))
  } catch (error) {
    watch.close()
    throw error
  } finally {
    started.resolve()
  }
  return {
    limiter: () => activeLimiter,
    budgets: () => activeBudgets,
    contentRules: () => activeContent,
    policy: () => active,
    ownKeys: () => active?.ownKeys,
    fault: () => fault,
    async overview(callers) {
      const { limitOverview } = await import('../limits/limit-overview.ts')
      const policy = active ?? openPolicy
      return limitOverview({ policy, limiter: activeLimiter, budgets: activeBudgets, callers, now: Date.now() })
    },
    async check(text) {
      await load(text)
    },
    reload: watch.reload,
    close: watch.close,
  }
}

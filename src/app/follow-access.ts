import type { FollowedFile, FollowFile } from '../config/watch/follow-file.ts'
import type { AccessPolicy } from '../limits/access-policy.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Logger } from '../observe/log.ts'

/** Options of {@link followAccess}. */
export interface FollowAccessOptions {
  /** Path of access.json, which need not exist. */
  readonly path: string
  readonly follow: FollowFile
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Checks a policy against the rest of the service. @throws {ConfigError} when a limit could have no effect */
  readonly check: (policy: AccessPolicy) => void
  /** Makes the limiter, when there is a first limit. */
  readonly makeLimiter: () => Promise<Limiter>
}

/** The access policy in force. */
export interface ActiveAccess extends Pick<FollowedFile, 'close'> {
  /** `undefined`: there are no limits. */
  limiter(): Limiter | undefined
}

/** Loads access.json, and again on each change, all or nothing. @throws {ConfigError} for faults at the start */
export async function followAccess({
  path,
  follow,
  log,
  check,
  makeLimiter,
}: FollowAccessOptions): Promise<ActiveAccess> {
  let made: Limiter | undefined
  let active: Limiter | undefined

  /** Without a file, neither its parser nor the limiter is loaded. */
  async function load(text: string | undefined): Promise<AccessPolicy | undefined> {
    if (text === undefined) return undefined
    const { parseAccess } = await import('../config/file/parse-access.ts')
    const policy = parseAccess(text, path)
    check(policy)
    return policy
  }

  async function apply(policy: AccessPolicy | undefined): Promise<void> {
    if (policy === undefined || policy.limits.length === 0) {
      active = undefined
      return
    }
    made ??= await makeLimiter()
    made.replace(policy)
    active = made
  }

  const watch = follow({
    path,
    load,
    async apply(policy, isReporter) {
      await apply(policy)
      if (isReporter) log.info('limits reloaded', { file: path })
    },
    report(error, isReporter) {
      if (!isReporter) return
      const reason = error instanceof Error ? error.message : String(error)
      log.error('the limits were not reloaded; the previous ones stay active', { reason })
    },
  })
  try {
    await apply(await load(await watch.text))
  } catch (error) {
    watch.close()
    throw error
  }
  return { limiter: () => active, close: watch.close }
}

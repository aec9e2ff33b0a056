import { expect, test } from 'bun:test'
import { ConfigError } from '../config/config.ts'
import type { Followed, FollowFile } from '../config/watch/follow-file.ts'
import type { AccessPolicy } from '../limits/access-policy.ts'
import { Limiter } from '../limits/limiter.ts'
import { AccessFile, ActiveAccess } from './follow-access.ts'

const limitOf = (requests: number) => ({ for: 'everyone', requests, per: 'minute' })
const content = [{ for: 'everyone', keep: '1d' }]

/** Limits with a file, whose changes the test makes. */
async function subject(
  prepareContent: (change: (file: object) => Promise<void>) => Promise<void>,
  first: object = { limits: [limitOf(1)] },
) {
  const reports: unknown[] = []
  const zones: string[] = []
  const limits: number[] = []
  let changes = 0
  const refused = { count: 0 }
  let change: (file: object) => Promise<void> = async () => undefined
  const follow: FollowFile = <Value>({ load, apply, report }: Followed<Value>) => {
    change = async (file) => {
      try {
        await apply(await load(JSON.stringify(file)), true)
      } catch (error) {
        await report(error, true)
      }
    }
    return {
      text: Promise.resolve(JSON.stringify(first)),
      reload: async () => true,
      again: async () => undefined,
      close: () => undefined,
    }
  }
  const access = new ActiveAccess()
  const file = new AccessFile({
    access,
    path: '/home/access.json',
    follow,
    log: { info: () => undefined, error: (...line) => void reports.push(line) },
    check(policy) {
      if (policy.limits[0]?.requests?.count === refused.count)
        throw new ConfigError([{ file: '', field: '', found: 'a limit of people', allowed: 'sign-in' }])
    },
    async makeLimiter() {
      return new (class extends Limiter {
        override replace(policy: AccessPolicy): void {
          limits.push(...policy.limits.map(({ requests }) => requests?.count ?? 0))
          super.replace(policy)
        }
      })({ clock: () => 0 })
    },
    makeBudgets: () => Promise.reject(new Error('there are no limits of money')),
    prepareContent: () => prepareContent((file) => change(file)),
    onChange: () => void changes++,
    onZone: (zone) => void zones.push(zone),
    onWebhook: () => undefined,
  })
  await file.start()
  return { access, change: (file: object) => change(file), reports, limits, zones, refused, changes: () => changes }
}

test('a changed file counts as a whole, when all that it needs is there', async () => {
  const ready = Promise.withResolvers<void>()
  const { access, change, limits, changes } = await subject(() => ready.promise)
  const changing = change({ limits: [limitOf(2)], content })
  await Bun.sleep(1)
  expect([limits, access.policy()?.limits[0]?.requests?.count]).toEqual([[1], 1])
  ready.resolve()
  expect(changes()).toBe(0)
  await changing
  expect(changes()).toBe(1)
  expect([limits, access.policy()?.limits[0]?.requests?.count]).toEqual([[1, 2], 2])
  expect(access.contentRules()?.termsOf({})).toMatchObject({ keepMs: 86_400_000 })
})

test('a file that changes while the service starts is not followed by its text of before', async () => {
  let changing: Promise<void> | undefined
  const { access } = await subject(
    async (change) => {
      changing ??= change({ limits: [limitOf(2)] })
      await Bun.sleep(1)
    },
    { limits: [limitOf(1)], content },
  )
  await changing
  expect([access.policy()?.limits[0]?.requests?.count, access.contentRules()]).toEqual([2, undefined])
})

test('a change that has lost its effect while its database is opened is refused', async () => {
  const { access, change, refused, reports } = await subject(async () => {
    refused.count = 2
  })
  await change({ limits: [limitOf(2)], content })
  expect([access.policy()?.limits[0]?.requests?.count, reports.length]).toEqual([1, 1])
})

test('a changed file whose database cannot be opened changes nothing', async () => {
  const { access, change, limits, reports, zones } = await subject(() => Promise.reject(new Error('no database')))
  await change({ time_zone: 'Europe/Berlin', limits: [limitOf(2)], content })
  expect([limits, access.policy()?.limits[0]?.requests?.count, reports.length]).toEqual([[1], 1, 1])
  expect([access.policy()?.timeZone, zones.at(-1)]).toEqual(['UTC', 'UTC'])
  expect(access.fault()?.reason).toContain('no database')
})

import { describe, expect, test } from 'bun:test'
import { UsageError } from '../base/start-errors.ts'
import { readTimers } from './timers.ts'

const defaults = {
  heartbeatMs: undefined,
  stallMs: 30_000,
  bodyMs: 30_000,
  bodyIdleMs: 10_000,
  drainMs: 30_000,
  drainWindowMs: 1_000,
  livenessMs: 5_000,
  lateRefusalMs: 1_000,
}

describe('the times of the service', () => {
  test('are those of failover.md by default', () => {
    expect(readTimers({})).toEqual(defaults)
    expect(readTimers({ SVC_HEARTBEAT_MS: '' })).toEqual(defaults)
  })

  const variables: readonly (readonly [string, keyof typeof defaults])[] = [
    ['SVC_HEARTBEAT_MS', 'heartbeatMs'],
    ['SVC_STALL_MS', 'stallMs'],
    ['SVC_BODY_TIMEOUT_MS', 'bodyMs'],
    ['SVC_BODY_IDLE_MS', 'bodyIdleMs'],
    ['SVC_DRAIN_MS', 'drainMs'],
    ['SVC_DRAIN_WINDOW_MS', 'drainWindowMs'],
    ['SVC_LIVENESS_MS', 'livenessMs'],
    ['SVC_LATE_REFUSAL_MS', 'lateRefusalMs'],
  ]
  test.each(variables)('are changed by %s', (name, timer) => {
    expect(readTimers({ [name]: '1234' })).toEqual({ ...defaults, [timer]: 1234 })
    expect(readTimers({ [name]: '3600000' })[timer]).toBe(3_600_000)
  })

  test.each([
    ['SVC_HEARTBEAT_MS', 10],
    ['SVC_STALL_MS', 100],
    ['SVC_BODY_TIMEOUT_MS', 100],
    ['SVC_BODY_IDLE_MS', 100],
    ['SVC_DRAIN_MS', 0],
    ['SVC_DRAIN_WINDOW_MS', 0],
    ['SVC_LIVENESS_MS', 100],
  ])('are refused below their minimum: %s below %p', (name, least) => {
    expect(Object.values(readTimers({ [name]: String(least) }))).toContain(least)
    expect(() => readTimers({ [name]: String(least - 1) })).toThrow(
      `${name} must be a whole number of milliseconds from ${least} to 3600000`,
    )
  })

  test.each(['-1', '1.5', '3600001', 'soon', '1e3', ' 5', '0x10', '99999999999'])(
    'are refused when they are %j, and the variable is named',
    (value) => {
      expect(() => readTimers({ SVC_DRAIN_MS: value })).toThrow(UsageError)
      expect(() => readTimers({ SVC_DRAIN_MS: value })).toThrow('SVC_DRAIN_MS')
    },
  )
})

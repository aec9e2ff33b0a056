import { describe, expect, test } from 'bun:test'
import { idleMax, idleMs, pool } from './pool.ts'

/** A pool of names with a clock to turn and a list of what it dropped. */
function names() {
  const dropped: string[] = []
  const clock = { ms: 0 }
  const idle = pool<string>(
    (name) => void dropped.push(name),
    () => clock.ms,
  )
  return { idle, shelf: idle.shelf(), dropped, clock }
}

describe('the pool', () => {
  test('gives back what was put last', () => {
    const { idle, shelf } = names()
    for (const name of ['a', 'b']) idle.put(shelf, name, undefined)
    expect([idle.take(shelf), idle.take(shelf), idle.take(shelf)]).toEqual(['b', 'a', undefined])
  })

  test('keeps origins apart', () => {
    const { idle, shelf } = names()
    idle.put(shelf, 'a', undefined)
    expect(idle.take(idle.shelf())).toBeUndefined()
    expect(idle.idle).toBe(1)
  })

  test('gives nothing that has been idle for too long', () => {
    const { idle, shelf, dropped, clock } = names()
    idle.put(shelf, 'old', undefined)
    clock.ms = idleMs - 1
    idle.put(shelf, 'young', undefined)
    clock.ms = idleMs + 1
    expect([idle.take(shelf), idle.take(shelf)]).toEqual(['young', undefined])
    expect(dropped).toEqual(['old'])
    expect(idle.idle).toBe(0)
  })

  test('gives up a second before the upstream does', () => {
    const { idle, shelf, clock } = names()
    expect(idle.put(shelf, 'gone', 1_000)).toBe(false)
    idle.put(shelf, 'a', 5_000)
    clock.ms = 3_999
    expect(idle.take(shelf)).toBe('a')
    idle.put(shelf, 'b', 5_000)
    clock.ms = 3_999 + 4_000
    expect(idle.take(shelf)).toBeUndefined()
  })

  test('keeps nothing for longer than its own limit', () => {
    const { idle, shelf, clock } = names()
    idle.put(shelf, 'a', 1e9)
    clock.ms = idleMs
    expect(idle.take(shelf)).toBeUndefined()
  })

  test('drops what has been idle for too long', () => {
    const { idle, shelf, dropped, clock } = names()
    idle.put(shelf, 'old', undefined)
    clock.ms = 1_000
    idle.put(shelf, 'young', undefined)
    idle.put(shelf, 'short-lived', 10_000)
    clock.ms = idleMs
    idle.sweep()
    expect(dropped).toEqual(['old', 'short-lived'])
    expect(idle.idle).toBe(1)
  })

  test('has room for so many an origin', () => {
    const { idle, shelf } = names()
    for (let index = 0; index < idleMax; index++) expect(idle.put(shelf, String(index), undefined)).toBe(true)
    expect(idle.put(shelf, 'one more', undefined)).toBe(false)
    expect(idle.put(idle.shelf(), 'elsewhere', undefined)).toBe(true)
  })

  test('forgets what died', () => {
    const { idle, shelf, dropped } = names()
    for (const name of ['a', 'b', 'c']) idle.put(shelf, name, undefined)
    expect(idle.remove(shelf, 'b')).toBe(true)
    expect(idle.remove(shelf, 'b')).toBe(false)
    expect([idle.take(shelf), idle.take(shelf), idle.take(shelf)]).toEqual(['c', 'a', undefined])
    expect(dropped).toEqual([])
  })

  test('drops what is idle when it is emptied, and keeps what comes then', () => {
    const { idle, shelf, dropped } = names()
    for (const name of ['a', 'b']) idle.put(shelf, name, undefined)
    idle.empty()
    expect([dropped, idle.idle]).toEqual([['a', 'b'], 0])
    expect(idle.put(shelf, 'c', undefined)).toBe(true)
    idle.close()
  })

  test('drops everything when it closes and keeps nothing after', () => {
    const { idle, shelf, dropped } = names()
    for (const name of ['a', 'b']) idle.put(shelf, name, undefined)
    idle.close()
    expect(dropped).toEqual(['a', 'b'])
    expect(idle.idle).toBe(0)
    expect(idle.put(shelf, 'c', undefined)).toBe(false)
  })
})

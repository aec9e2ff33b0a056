import { describe, expect, test } from 'bun:test'
import { idleMax, idleMs, pool } from './pool.ts'

/** A pool of names with a fake clock and a list of dropped names. */
function names() {
  const dropped: string[] = []
  const clock = { ms: 0 }
  const idle = pool<string>(
    (name) => void dropped.push(name),
    () => clock.ms,
  )
  return { idle, idleList: idle.idleList(), dropped, clock }
}

describe('the pool', () => {
  test('returns the most recently used first', () => {
    const { idle, idleList } = names()
    for (const name of ['a', 'b']) idle.put(idleList, name, undefined)
    expect([idle.take(idleList), idle.take(idleList), idle.take(idleList)]).toEqual(['b', 'a', undefined])
  })

  test('keeps origins apart', () => {
    const { idle, idleList } = names()
    idle.put(idleList, 'a', undefined)
    expect(idle.take(idle.idleList())).toBeUndefined()
    expect(idle.idle).toBe(1)
  })

  test('does not return expired connections', () => {
    const { idle, idleList, dropped, clock } = names()
    idle.put(idleList, 'old', undefined)
    clock.ms = idleMs - 1
    idle.put(idleList, 'young', undefined)
    clock.ms = idleMs + 1
    expect([idle.take(idleList), idle.take(idleList)]).toEqual(['young', undefined])
    expect(dropped).toEqual(['old'])
    expect(idle.idle).toBe(0)
  })

  test('expires connections a second before the upstream does', () => {
    const { idle, idleList, clock } = names()
    expect(idle.put(idleList, 'gone', 1_000)).toBe(false)
    idle.put(idleList, 'a', 5_000)
    clock.ms = 3_999
    expect(idle.take(idleList)).toBe('a')
    idle.put(idleList, 'b', 5_000)
    clock.ms = 3_999 + 4_000
    expect(idle.take(idleList)).toBeUndefined()
  })

  test('keeps no connection longer than its own limit', () => {
    const { idle, idleList, clock } = names()
    idle.put(idleList, 'a', 1e9)
    clock.ms = idleMs
    expect(idle.take(idleList)).toBeUndefined()
  })

  test('drops expired connections', () => {
    const { idle, idleList, dropped, clock } = names()
    idle.put(idleList, 'old', undefined)
    clock.ms = 1_000
    idle.put(idleList, 'young', undefined)
    idle.put(idleList, 'short-lived', 10_000)
    clock.ms = idleMs
    idle.sweep()
    expect(dropped).toEqual(['old', 'short-lived'])
    expect(idle.idle).toBe(1)
  })

  test('limits the connections of an origin', () => {
    const { idle, idleList } = names()
    for (let index = 0; index < idleMax; index++) expect(idle.put(idleList, String(index), undefined)).toBe(true)
    expect(idle.put(idleList, 'one more', undefined)).toBe(false)
    expect(idle.put(idle.idleList(), 'elsewhere', undefined)).toBe(true)
  })

  test('removes closed connections', () => {
    const { idle, idleList, dropped } = names()
    for (const name of ['a', 'b', 'c']) idle.put(idleList, name, undefined)
    expect(idle.remove(idleList, 'b')).toBe(true)
    expect(idle.remove(idleList, 'b')).toBe(false)
    expect([idle.take(idleList), idle.take(idleList), idle.take(idleList)]).toEqual(['c', 'a', undefined])
    expect(dropped).toEqual([])
  })

  test('drops all idle connections when emptied, and keeps later ones', () => {
    const { idle, idleList, dropped } = names()
    for (const name of ['a', 'b']) idle.put(idleList, name, undefined)
    idle.empty()
    expect([dropped, idle.idle]).toEqual([['a', 'b'], 0])
    expect(idle.put(idleList, 'c', undefined)).toBe(true)
    idle.close()
  })

  test('drops all connections when closed, and keeps none after', () => {
    const { idle, idleList, dropped } = names()
    for (const name of ['a', 'b']) idle.put(idleList, name, undefined)
    idle.close()
    expect(dropped).toEqual(['a', 'b'])
    expect(idle.idle).toBe(0)
    expect(idle.put(idleList, 'c', undefined)).toBe(false)
  })
})

import { describe, expect, test } from 'bun:test'
import { Changes } from './changes.ts'

describe('changes', () => {
  test('are in the trail by their names, once each', () => {
    const changes = new Changes()
    expect(changes.inTrail).toBeUndefined()
    changes.drop('stop')
    changes.drop('stop')
    changes.adjust('messages')
    expect(changes.inTrail).toEqual({ dropped: ['stop'], adjusted: ['messages'] })
    changes.adapt('system_first')
    expect(changes.inTrail).toEqual({ adapted: ['system_first'], dropped: ['stop'], adjusted: ['messages'] })
    changes.restart()
    expect(changes.inTrail).toEqual({ adapted: ['system_first'] })
    changes.clear()
    expect(changes.inTrail).toBeUndefined()
  })

  test.each([
    ['tools.web_search', 'tools.web_search'],
    ['messages[].name', 'messages[].name'],
    ['a;b, c=d+e', 'a?b??c?d?e'],
    ['ü\r\nx-evil: 1', '???x-evil??1'],
    ['', ''],
    ['x'.repeat(500), 'x'.repeat(64)],
  ])('a caller may name a member %j', (name, shown) => {
    const changes = new Changes()
    changes.drop(name)
    expect(changes.dropped).toEqual([shown])
    expect(new Headers({ 'x-svc-dropped': shown }).get('x-svc-dropped')).toBe(shown)
  })

  test('name at most 32 members', () => {
    const changes = new Changes()
    for (let n = 0; n < 3_000; n++) changes.drop(`k${n}`)
    expect([changes.dropped.length, changes.dropped[31], changes.dropped[32]]).toEqual([33, 'k31', 'more'])
  })
})

import { beforeEach, describe, expect, test } from 'bun:test'
import { LedgerUnavailable, type KeyPerson } from '../../ledger/ledger.ts'
import { keyPeople } from './key-people.ts'
import { fakeKeyHost, type FakeKeyHost } from './testing.ts'

const dayMs = 86_400_000
const entered = { id: 'p1', name: 'ann', accountId: '1' }

let host: FakeKeyHost
let ann: KeyPerson
let noted: KeyPerson[]
let failure: Error | undefined
beforeEach(() => {
  host = fakeKeyHost()
  ann = { ...entered, seen: host.now() }
  noted = []
  failure = undefined
})

function people() {
  return keyPeople({
    book: { person: (id) => (id === ann.id ? ann : undefined) },
    keys: {
      async notePerson(person) {
        await Bun.sleep(0)
        if (failure !== undefined) throw failure
        noted.push(person)
        ann = person
      },
    },
    host,
  })
}

describe('the keys of a person', () => {
  test('rest after 30 days', () => {
    const at = (days: number) => people().refusalOf(ann, ann.seen + days * dayMs)
    expect([at(0), at(30), at(-1)]).toEqual([undefined, undefined, undefined])
    expect(at(30.01)).toContain('signing in wakes it')
  })

  test('are refused while the person may not enter, and while there are to be none', () => {
    host.refused.add('ann')
    expect(people().refusalOf(ann, ann.seen)).toContain('may not sign in')
    host.ceilings = { most: 0, daysMost: 90 }
    expect(people().refusalOf(ann, ann.seen)).toContain('own_keys of access.json')
  })
})

describe('a person who is there', () => {
  test('is noted once in six hours, once for requests at the same time, and at once under a new name', async () => {
    const { onEntry } = people()
    expect(onEntry(entered)).toBeUndefined()
    host.clock.ms += dayMs / 4
    await Promise.all([onEntry(entered), onEntry(entered)])
    expect(noted).toEqual([{ ...ann, seen: host.now() }])
    expect(onEntry(entered)).toBeUndefined()
    await onEntry({ ...entered, name: 'anna' })
    expect(noted.map(({ name }) => name)).toEqual(['ann', 'anna'])
  })

  test('is not noted without keys', () => {
    host.clock.ms += dayMs
    expect(people().onEntry({ id: 'eve', name: 'eve' })).toBeUndefined()
  })

  test('enters also while the database cannot be used, and is noted later', async () => {
    const { onEntry } = people()
    host.clock.ms += dayMs
    failure = new LedgerUnavailable('away')
    await onEntry(entered)
    failure = undefined
    // Until then no request waits for the database again.
    expect(onEntry(entered)).toBeUndefined()
    host.clock.ms += 60_000
    await onEntry(entered)
    expect(noted).toHaveLength(1)
  })
})

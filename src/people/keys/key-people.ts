import { LedgerUnavailable, type KeyPerson, type KeyTable } from '../../ledger/ledger.ts'
import type { Person } from '../person.ts'
import type { KeyBook } from './key-book.ts'
import type { KeyHost } from './key-host.ts'
import { isResting, restDays } from './manage-keys.ts'

/** The people that keys belong to. */
export interface KeyPeople {
  /** Why the keys of a person are refused now; `undefined`: they are not. Reads memory only. */
  refusalOf(person: KeyPerson, now: number): string | undefined
  /** Notes that a person is there, which wakes their keys. */
  onEntry(person: Person): Promise<void> | undefined
}

export interface PeopleOptions {
  readonly book: Pick<KeyBook, 'person'>
  readonly keys: Pick<KeyTable, 'notePerson'>
  readonly host: Pick<KeyHost, 'mayEnter' | 'ownKeys' | 'now'>
}

/** A person who is there is noted again after this time. */
const noteMs = 6 * 60 * 60 * 1_000
/** After a failure of the database, no request waits for a note for this time. */
const pauseMs = 60_000

/** A key of a person may never do more than that person may at that moment. */
export function keyPeople({ book, keys, host }: PeopleOptions): KeyPeople {
  /** Requests of a page come in groups: the others wait for the same note. */
  const noting = new Map<string, Promise<void>>()
  let failedAt = Number.NEGATIVE_INFINITY

  async function note(person: KeyPerson): Promise<void> {
    try {
      await keys.notePerson(person)
    } catch (error) {
      // The person is noted later. The ledger reports its trouble itself.
      if (!(error instanceof LedgerUnavailable)) throw error
      failedAt = host.now()
    } finally {
      noting.delete(person.id)
    }
  }

  return {
    refusalOf(person, now) {
      if (host.ownKeys().most === 0) return 'keys of people are switched off (own_keys of access.json)'
      if (!host.mayEnter(person)) return 'the person that it belongs to may not sign in'
      if (!isResting(person, now)) return undefined
      return `it rests, since its person has not been here for ${restDays} days; signing in wakes it`
    },
    onEntry(entered) {
      const known = book.person(entered.id)
      if (known === undefined || Math.abs(host.now() - failedAt) < pauseMs) return undefined
      const person = { ...entered, seen: host.now() }
      if (isSame(known, person) && Math.abs(person.seen - known.seen) < noteMs) return undefined
      const open = noting.get(person.id) ?? note(person)
      noting.set(person.id, open)
      return open
    },
  }
}

function isSame(one: Person, other: Person): boolean {
  return one.name === other.name && (one.isCaseless ?? false) === (other.isCaseless ?? false)
}

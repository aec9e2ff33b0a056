import { personEntry, personIdAt } from '../base/person-entry.ts'
import type { Access } from '../formats/access.ts'
import type { Grants } from './keys/grants.ts'

/*
 * Who asks. A guard of an extension says what it knows of a visitor, and `caller-of.ts` makes the `Caller` of it, with
 * the one `Person` that limits, log and ledger know; or a key is recognised (`keys/recognise.ts`), and `callerOfKey`
 * makes the caller, with the person that the key belongs to. A caller without either is unnamed. `id` of a person is
 * unique over all identity providers; `isNamedBy` compares a person with an entry of a file. `owners.ts` and `teams.ts`
 * answer who owns the service and who is in a team. `keys/` is the module of keys, which `--auth keys` switches on.
 */

/** A person: a signed-in user, or the maker of the own key that was sent. */
export interface Person {
  /** Permanent, and unique over all identity providers. Use, keys, content and conversations are kept by it. */
  readonly id: string
  /** User name, which may change. */
  readonly name: string
  /** Id at the identity provider, which `id:VALUE` names. Absent: the provider has none, or it is not known. */
  readonly accountId?: string
  /** User names are compared without regard to the case of ASCII letters. Absent: the case counts. */
  readonly isCaseless?: boolean
}

/** The sender of a request, as the guards have found it. Without members: no guard has named a user. */
export interface Caller {
  /** The name in the log: a user name, or `key:NAME` for a program. */
  readonly name?: string
  /** The use of the request counts for this person. Absent for keys of teams and of the service. */
  readonly person?: Person
  /** The key of a program. */
  readonly key?: CallerKey
  readonly keyFacts?: KeyFacts
  /** The rights of a program that sent a key. It uses only routes with a scope, and never the page. Absent: all. */
  readonly access?: Access
  /** Default: the page shows the name. */
  readonly profile?: Profile
  /** The session that an agent named in a header of this request. */
  readonly session?: string
}

/** The key of a program. */
export interface CallerKey {
  /** A key and its successors by rotation are of one line: the id of the first. */
  readonly line: number
  /** Name of the team that it belongs to. Without person and team it belongs to the service. */
  readonly team?: string
}

/** Further members of the key in the answer of `GET /v1/key`. */
export interface KeyFacts {
  readonly id: number
  readonly name: string
  /** Unix milliseconds; absent: never. */
  readonly expires?: number
  readonly grants: Grants
}

/** User data that the page shows to the user. */
export interface Profile {
  /** Short, permanent and unique over all identity providers. The page stores a user's browser data under it. */
  readonly id: string
  readonly userName: string
  readonly displayName: string
  /** Empty if unknown. */
  readonly email: string
  /** An https URL, or empty. */
  readonly avatarUrl: string
}

/** The caller of a request without guards, or that they let pass without a name. */
export const anonymous: Caller = {}

/** Tells senders apart: the line of the key, and the id of the person. Without both all senders are one. */
export function senderId({ key, person }: Caller): string {
  return `${key?.line ?? ''} ${person?.id ?? ''}`
}

/** A key as the sender of requests: an own key acts as its person. */
export function callerOfKey({ line, person, team }: CallerKey & Pick<Caller, 'person'>): Caller {
  const key = team === undefined ? { line } : { line, team }
  return person === undefined ? { key } : { person, key }
}

/** The person who has signed in; `undefined` for keys, also own ones, and without sign-in. */
export function signedInPerson({ person, access }: Caller): Person | undefined {
  return access === undefined ? person : undefined
}

/** Whether an entry of a configuration file names a person: a user name, `id:VALUE` or `id:VALUE@URL`. */
export function isNamedBy(entry: string, person: Person): boolean {
  const named = personEntry(entry)
  if (named.kind === 'name') return hasName(person, entry)
  const { userId, provider } = named
  return userId === person.accountId && (provider === undefined || person.id === personIdAt(provider, userId))
}

/** Whether a person has a user name. The case of other letters than ASCII always counts: `\u212A` is not `k`. */
export function hasName({ name, isCaseless = false }: Person, other: string): boolean {
  return isCaseless ? foldCase(name) === foldCase(other) : name === other
}

function foldCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

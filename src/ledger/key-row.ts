import type { KeyOwner, KeyPerson, NewKey, StoredKey } from './ledger.ts'

/** A row of the table of keys. */
export interface KeyRow {
  readonly id: number
  readonly line: number
  readonly hash: Uint8Array
  readonly hint: string
  readonly name: string
  readonly kind: string
  readonly made: number
  readonly made_by: string
  readonly expires: number | null
  readonly ended: number | null
  readonly ended_by: string | null
  readonly used: number | null
  readonly grants: string
  readonly person: string | null
  readonly person_name: string | null
  readonly person_user_id: string | null
  readonly person_caseless: number | null
  readonly person_seen: number | null
  readonly team: string | null
}

/** Stands in place of the names of a person that was forgotten. */
export const forgotten = 'forgotten'

/** Whether names of a forgotten person were removed from a key. */
export function hasForgotten({ name, madeBy, endedBy }: StoredKey): boolean {
  return name === forgotten || madeBy === forgotten || endedBy === forgotten
}

/** Values of a row that has the name of a line, and no key: no key has its hash. */
export function lineRowValues(line: number, name: string): (string | number | Uint8Array)[] {
  const hash = Buffer.from(Bun.SHA256.hash(`line ${line}`, 'hex'), 'hex')
  return [line, hash, name]
}

/** The other columns of such a row. Version 0: it is no change of keys. */
export const lineRowColumns = {
  names: 'id, line, hash, name, hint, kind, made, made_by, grants, version',
  constants: `'', 'line', 0, 'access.json', '{}', 0`,
} as const

/** The columns of the person and the team of a key. */
export const ownerColumns = 'person, person_name, person_user_id, person_caseless, person_seen, team'
const ownColumns = 'id, line, hash, hint, name, kind, made, made_by, expires, ended, ended_by, used, grants'
/** The columns of a row, without its version. */
export const keyColumns = `${ownColumns}, ${ownerColumns}`

/** Values of {@link ownerColumns}. */
export function ownerValues({ person, team }: Pick<NewKey, 'person' | 'team'>): (string | number | null)[] {
  return [...personValues(person), team ?? null]
}

/** Which keys belong to a person or a team: a column and its value. `undefined`: the key belongs to the service. */
export function ownerCondition(owner: KeyOwner): readonly ['person' | 'team', string] {
  return 'person' in owner ? ['person', owner.person] : ['team', owner.team]
}

/** The owner of a key; `undefined`: the service. */
export function keyOwnerOf({ person, team }: Pick<NewKey, 'person' | 'team'>): KeyOwner | undefined {
  if (person !== undefined) return { person: person.id }
  return team === undefined ? undefined : { team }
}

/** Values of the columns of a person. */
export function personValues(person: KeyPerson | undefined): (string | number | null)[] {
  if (person === undefined) return [null, null, null, null, null]
  const { id, name, accountId = null, isCaseless = false, seen } = person
  return [id, name, accountId, Number(isCaseless), seen]
}

function personOf(row: KeyRow): { readonly person?: KeyPerson } {
  const { person: id, person_name, person_user_id: accountId, person_caseless, person_seen } = row
  if (id === null) return {}
  const person = {
    ...{ id, name: person_name ?? '', seen: person_seen ?? 0 },
    ...(accountId === null ? {} : { accountId }),
    ...(person_caseless === 1 ? { isCaseless: true } : {}),
  }
  return { person }
}

/** The key of a row. */
export function storedKey(row: KeyRow): StoredKey {
  const { id, line, hash, hint, name, kind, made, made_by, expires, ended, ended_by, used, grants, team } = row
  return {
    ...{ id, line, hint, name, kind, made, grants },
    ...personOf(row),
    hash: Buffer.from(hash).toString('base64'),
    madeBy: made_by,
    ...(expires === null ? {} : { expires }),
    ...(ended === null ? {} : { ended }),
    ...(ended_by === null ? {} : { endedBy: ended_by }),
    ...(used === null ? {} : { used }),
    ...(team === null ? {} : { team }),
  }
}

import type { KeyOwner, KeyPerson, NewKey, StoredKey } from './ledger.ts'
import { numberInRow, textInRow, type WorkRow } from './work.ts'

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

function personOf(row: WorkRow): { readonly person?: KeyPerson } {
  const id = textInRow(row, 'person')
  if (id === undefined) return {}
  const accountId = textInRow(row, 'person_user_id')
  const person = {
    ...{ id, name: textInRow(row, 'person_name') ?? '', seen: numberInRow(row, 'person_seen') },
    ...(accountId === undefined ? {} : { accountId }),
    ...(numberInRow(row, 'person_caseless') === 1 ? { isCaseless: true } : {}),
  }
  return { person }
}

/** The key of a row. */
export function storedKey(row: WorkRow): StoredKey {
  const hash = row['hash']
  const endedBy = textInRow(row, 'ended_by')
  const team = textInRow(row, 'team')
  const [expires, ended, used] = ['expires', 'ended', 'used'].map((name) => textInRow(row, name))
  return {
    ...{ id: numberInRow(row, 'id'), line: numberInRow(row, 'line'), made: numberInRow(row, 'made') },
    ...{
      hint: String(row['hint']),
      name: String(row['name']),
      kind: String(row['kind']),
      grants: String(row['grants']),
    },
    ...personOf(row),
    hash: Buffer.from(hash instanceof Uint8Array ? hash : []).toString('base64'),
    madeBy: String(row['made_by']),
    ...(expires === undefined ? {} : { expires: Number(expires) }),
    ...(ended === undefined ? {} : { ended: Number(ended) }),
    ...(endedBy === undefined ? {} : { endedBy }),
    ...(used === undefined ? {} : { used: Number(used) }),
    ...(team === undefined ? {} : { team }),
  }
}

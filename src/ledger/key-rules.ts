import { LedgerFull, type Ending, type KeyOwner, type NewEntry, type NoSuccessor, type StoredKey } from './ledger.ts'

/** Keys that are in use at a time: all of them are in the memory of every worker. */
const keysMax = 100_000
/** Keys that may be made for a person or a team in a day, also if each is ended at once: rows of ended keys stay. */
const madeADayMax = 100
const dayMs = 24 * 60 * 60 * 1_000

/** A change of a key, to be recorded. */
export type ChangedKey = Omit<NewEntry, 'via' | 'object'> & { readonly id: number }

/** Keys made after this time count as made in the day. @param made Unix milliseconds */
export function dayBefore(made: number): number {
  return made - dayMs
}

/** @param inUse keys that have not ended or expired @throws {LedgerFull} */
export function checkKeysInUse(inUse: number): void {
  if (inUse >= keysMax) throw new LedgerFull(`there are ${keysMax} keys in use: end some first`)
}

/** Keys of one person or team. */
export interface OwnedKeys {
  readonly inUse: number
  /** Made within a day. */
  readonly ofToday: number
}

/** @throws {LedgerFull} */
export function checkCeilings(owner: KeyOwner, { inUse, ofToday }: OwnedKeys, most: number): void {
  const [whose, those] = 'person' in owner ? ['a person', 'you have them'] : ['a team', 'it has them']
  if (inUse >= most) throw new LedgerFull(`${whose} may have ${most} keys, and ${those}: end one first`)
  if (ofToday >= madeADayMax) throw new LedgerFull(`${whose} may get ${madeADayMax} new keys in a day`)
}

/** Why a key gets no successor; `undefined`: it may get one. */
export function refusalOfSuccessor(
  key: StoredKey | undefined,
  isNewest: boolean,
  now: number,
): NoSuccessor | undefined {
  if (key === undefined) return 'unknown'
  if (key.person !== undefined) return 'personal'
  if (key.ended !== undefined || (key.expires !== undefined && key.expires <= now)) return 'over'
  return isNewest ? undefined : 'replaced'
}

/** The entry of a new key. The name of a key may be that of a person: it stands in the table of keys only. */
export function making({ id, line, kind, made, madeBy, expires, grants, team }: StoredKey): ChangedKey {
  const granted: unknown = JSON.parse(grants)
  return {
    ...{ id, time: made, actor: madeBy, action: 'key.made' },
    after: { line, kind, expires: expires ?? null, ...(team === undefined ? {} : { team }), grants: granted },
  }
}

/** The entry of a key that got a successor. @param end the time at which the key expires now */
export function rotation(
  { id, expires }: StoredKey,
  { made, madeBy, id: successor }: StoredKey,
  end: number,
): ChangedKey {
  return {
    ...{ id, time: made, actor: madeBy, action: 'key.rotated' },
    before: { expires: expires ?? null },
    after: { expires: end, successor },
  }
}

/** The entry of a key that was ended. */
export function ending(id: number, { at, by }: Ending): ChangedKey {
  return { id, time: at, actor: by, action: 'key.ended', before: { ended: null }, after: { ended: at } }
}

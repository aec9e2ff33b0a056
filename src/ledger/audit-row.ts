import type { ChainedEntry } from './ledger.ts'

/** A row of the audit. */
export interface AuditRow {
  readonly seq: number
  readonly time: number
  readonly actor: string | null
  readonly actor_salt: string | null
  readonly actor_hash: string
  readonly via: string
  readonly action: string
  readonly object: string
  readonly before: string | null
  readonly after: string | null
  readonly chain: string
}

/** The columns of a row, in the order of {@link auditValues}. */
export const auditColumns = 'seq, time, actor, actor_salt, actor_hash, via, action, object, before, after, chain'

/** Values of {@link auditColumns}. */
export function auditValues(entry: ChainedEntry): (string | number | null)[] {
  const {
    seq,
    time,
    actor = null,
    actorSalt = null,
    actorHash,
    via,
    action,
    object,
    before = null,
    after = null,
  } = entry
  return [seq, time, actor, actorSalt, actorHash, via, action, object, before, after, entry.chain]
}

/** The entry of a row. */
export function entryOf({ actor, actor_salt, actor_hash, before, after, ...row }: AuditRow): ChainedEntry {
  return {
    ...row,
    actorHash: actor_hash,
    ...(actor === null ? {} : { actor }),
    ...(actor_salt === null ? {} : { actorSalt: actor_salt }),
    ...(before === null ? {} : { before }),
    ...(after === null ? {} : { after }),
  }
}

/** The row of a result, in which numbers may be texts. */
export function auditRow(row: Readonly<Record<string, unknown>>): AuditRow {
  const text = (name: string): string => String(row[name])
  const textOrNull = (name: string): string | null => (row[name] === null ? null : String(row[name]))
  return {
    seq: Number(row['seq']),
    time: Number(row['time']),
    actor: textOrNull('actor'),
    actor_salt: textOrNull('actor_salt'),
    actor_hash: text('actor_hash'),
    via: text('via'),
    action: text('action'),
    object: text('object'),
    before: textOrNull('before'),
    after: textOrNull('after'),
    chain: text('chain'),
  }
}

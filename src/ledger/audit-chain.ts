import { nextTurn } from '../base/next-turn.ts'
import type { AuditEntry, AuditMark, AuditTable, ChainedEntry, NewEntry } from './ledger.ts'

/** The chain before the first entry. */
const noChain = '0'.repeat(64)

const saltBytes = 16

/** The entry of a change, which follows another one. */
export function chainedEntry(last: AuditMark | undefined, { before, after, ...change }: NewEntry): ChainedEntry {
  const salt = Buffer.from(crypto.getRandomValues(new Uint8Array(saltBytes))).toString('hex')
  const entry = {
    ...change,
    seq: (last?.seq ?? 0) + 1,
    actorSalt: salt,
    actorHash: hashOfActor(salt, change.actor),
    ...(before === undefined ? {} : { before: JSON.stringify(before) }),
    ...(after === undefined ? {} : { after: JSON.stringify(after) }),
  }
  return { ...entry, chain: chainOf(last?.chain, entry) }
}

/** The chain of an entry: SHA-256 in hexadecimal of the chain before it and all its facts. */
export function chainOf(before: string | undefined, entry: Omit<ChainedEntry, 'chain'>): string {
  const { seq, time, actorHash, via, action, object, before: was, after } = entry
  const facts = JSON.stringify([seq, time, actorHash, via, action, object, was ?? null, after ?? null])
  return sha256(`${before ?? noChain}\n${facts}`)
}

/** The actor as a salted hash. The salt prevents a search by trying names. */
export function hashOfActor(salt: string, actor: string): string {
  return sha256(`${salt}\n${actor}`)
}

function sha256(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex')
}

/** Result of verifying the chain. */
export interface ChainReport {
  /** Entries that were read. */
  readonly entries: number
  /** Absent: there is no entry. */
  readonly newest?: AuditMark
  /** In the order of entries. */
  readonly faults: readonly string[]
}

/** Faults that are listed. */
const faultsMax = 100

/** A walk through the chain, slice by slice. */
export interface ChainWalk {
  /** Checks the next entries, in ascending order. */
  check(entries: readonly ChainedEntry[]): void
  /** @param given the largest number that was ever given to an entry */
  end(given: number): ChainReport
}

/** Begins a walk at the first entry. @param expected a chain that was kept elsewhere */
export function chainWalk(expected?: string): ChainWalk {
  const faults: string[] = []
  let entries = 0
  let newest: AuditMark | undefined
  let isFound = expected === undefined

  function report(fault: string): void {
    if (faults.length < faultsMax) faults.push(fault)
    else if (faults.length === faultsMax) faults.push(`only the first ${faultsMax} faults are listed`)
  }

  function checkOne(entry: ChainedEntry): void {
    const { seq, chain } = entry
    const last = newest?.seq ?? 0
    const isNext = seq === last + 1
    if (!isNext) report(missing(last + 1, seq - 1))
    else if (chainOf(newest?.chain, entry) !== chain)
      report(`entry ${seq} does not follow from ${last === 0 ? 'the beginning' : `entry ${last}`}: changed or moved`)
    if (isActorChanged(entry)) report(`entry ${seq} has another actor than it was written with`)
    if (chain === expected) isFound = true
    entries += 1
    newest = { seq, chain }
  }

  return {
    check: (slice) => slice.forEach(checkOne),
    end(given) {
      const last = newest?.seq ?? 0
      if (given > last) report(missing(last + 1, given))
      if (!isFound) report('no entry has the expected chain: the end was cut, or entries were written anew')
      return { entries, ...(newest === undefined ? {} : { newest }), faults }
    },
  }
}

export interface VerifyOptions {
  /** A chain that was kept elsewhere. */
  readonly expected?: string
  /** Ends the walk between two slices: its reason is thrown. */
  readonly signal?: AbortSignal
}

const sliceSize = 500

/**
 * Walks through all entries. Entries that are added meanwhile are read, too: the largest number is asked for first.
 * Other work has its turn after each slice.
 */
export async function verifyChain(audit: AuditTable, { expected, signal }: VerifyOptions = {}): Promise<ChainReport> {
  const given = await audit.given()
  const walk = chainWalk(expected)
  let after = Number.MIN_SAFE_INTEGER
  for (;;) {
    signal?.throwIfAborted()
    const slice = await audit.slice(after, sliceSize)
    walk.check(slice)
    after = slice.at(-1)?.seq ?? after
    if (slice.length < sliceSize) return walk.end(given)
    await nextTurn()
  }
}

/** An actor without name and salt was forgotten: the chain has only its hash. */
function isActorChanged({ actor, actorSalt, actorHash }: ChainedEntry): boolean {
  if (actor === undefined && actorSalt === undefined) return false
  return hashOfActor(actorSalt ?? '', actor ?? '') !== actorHash
}

function missing(from: number, to: number): string {
  if (to < from) return `entry ${to + 1} stands before entry ${from}: moved`
  return from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`
}

/** An entry as it is shown. */
export function shownEntry({ actorSalt: _salt, actorHash: _hash, ...entry }: ChainedEntry): AuditEntry {
  return entry
}

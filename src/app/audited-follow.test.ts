import { describe, expect, test } from 'bun:test'
import { fingerprint } from '../config/watch/fingerprint.ts'
import type { Followed, FollowFile } from '../config/watch/follow-file.ts'
import { LedgerUnavailable, type ChainedEntry, type NewEntry } from '../ledger/ledger.ts'
import { auditedFollow } from './audited-follow.ts'

/** A file with the text `one`, whose changes the test makes. */
function subject({ failure, isOpen = true }: { readonly failure?: Error; readonly isOpen?: boolean } = {}) {
  const entries: NewEntry[] = []
  const errors: unknown[] = []
  let changed: (text: string | undefined, isReporter?: boolean) => Promise<void> = async () => undefined
  const follow: FollowFile = <Value>({ load, apply }: Followed<Value>) => {
    changed = async (text, isReporter = true) => apply(await load(text), isReporter)
    return {
      text: Promise.resolve('one'),
      reload: async () => true,
      again: async () => undefined,
      close: () => undefined,
    }
  }
  async function record(entry: NewEntry) {
    if (failure !== undefined) throw failure
    entries.push(entry)
    return { seq: entries.length, chain: 'c' }
  }
  const chained = (entry: NewEntry, seq: number): ChainedEntry => ({
    ...entry,
    seq,
    chain: 'c',
    actorHash: 'h',
    before: JSON.stringify(entry.before),
    after: JSON.stringify(entry.after),
  })
  const applied: (string | undefined)[] = []
  const audited = auditedFollow({
    follow,
    record: () => (isOpen ? record : undefined),
    audit: () => ({
      list: async () => entries.map(chained).toReversed(),
      slice: async () => [],
      given: async () => 0,
      keyNames: async () => new Map(),
    }),
    log: { info: () => undefined, error: (message, fields) => void errors.push([message, fields?.['reason']]) },
    now: () => 5,
  })
  const file = audited.follow<string | undefined>({
    path: '/home/access.json',
    load: async (text) => text,
    apply: (text) => void applied.push(text),
    report: () => undefined,
  })
  return {
    file,
    entries,
    errors,
    applied,
    change: (text?: string, isReporter?: boolean) => changed(text, isReporter),
    noteEarlierChanges: audited.noteEarlierChanges,
  }
}

describe('a followed file', () => {
  test('has an entry for each change that was applied, with fingerprints, by the process that reports', async () => {
    const { file, entries, applied, change } = subject()
    expect(await file.text).toBe('one')
    await change('one')
    await change('two')
    await change('three', false)
    await change()
    expect(applied).toEqual(['one', 'two', 'three', undefined])
    expect(entries).toEqual(
      [
        ['one', 'two'],
        ['three', undefined],
      ].map(([before, after]) => ({
        time: 5,
        actor: 'file',
        via: 'file',
        action: 'file.changed',
        object: 'access.json',
        before: { fingerprint: fingerprint(before) },
        after: { fingerprint: fingerprint(after) },
      })),
    )
  })

  test('has no second entry for what the page recorded', async () => {
    const { file, entries, change } = subject()
    await file.text
    entries.push({
      time: 1,
      actor: 'ada',
      via: 'page',
      action: 'file.changed',
      object: 'access.json',
      after: { fingerprint: fingerprint('two') },
    })
    await change('two')
    expect(entries.length).toBe(1)
    await change('one')
    await change('two')
    expect(entries.length).toBe(3)
  })

  test('has an entry at the start if it is not as its last entry says', async () => {
    const { file, entries, noteEarlierChanges } = subject()
    await file.text
    await noteEarlierChanges()
    expect(entries).toEqual([])
    const change = { time: 1, actor: 'ada', via: 'page', action: 'file.changed', object: 'access.json' } as const
    entries.push({ ...change, after: { fingerprint: fingerprint('one') } })
    await noteEarlierChanges()
    expect(entries.length).toBe(1)
    entries.push({ ...change, after: { fingerprint: fingerprint('old') } })
    await noteEarlierChanges()
    await noteEarlierChanges()
    expect(entries.slice(2)).toMatchObject([
      {
        actor: 'file',
        object: 'access.json',
        before: { fingerprint: fingerprint('old') },
        after: { fingerprint: fingerprint('one') },
      },
    ])
  })

  test('is applied also when that cannot be recorded, and without a ledger', async () => {
    const away = subject({ failure: new LedgerUnavailable('it is locked') })
    await away.file.text
    await away.change('two')
    expect([away.applied, away.errors]).toEqual([
      ['two'],
      [['a change of a file is active, and could not be recorded', 'it is locked']],
    ])
    const without = subject({ isOpen: false })
    await without.file.text
    await without.change('two')
    expect([without.applied, without.entries, without.errors]).toEqual([['two'], [], []])
  })
})

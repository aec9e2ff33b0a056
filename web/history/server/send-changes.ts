import type { Conversation } from '../conversation.ts'
import type { HistoryClient } from './history-client.ts'
import { commonOf } from './merge-conversations.ts'
import type { SyncRecord } from './sync-records.ts'
import { noRecord, withoutVersion, type SyncedCopy } from './synced-copy.ts'

/** Removes conversations at the service, if all were removed here. */
export async function sendClearing(copy: SyncedCopy, client: HistoryClient): Promise<void> {
  const { clearUntil } = await copy.records.state()
  if (clearUntil === undefined) return
  await client.clear(clearUntil)
  await copy.changeState((now) => (now.clearUntil === clearUntil ? { ...now, clearUntil: undefined } : now))
}

/** Sends what changed here. @returns whether others have changed something meanwhile */
export async function sendChanges(copy: SyncedCopy, client: HistoryClient): Promise<boolean> {
  let isBehind = false
  for (const { id } of (await copy.records.all()).filter(isToSend)) {
    const record = await copy.records.get(id)
    if (record === undefined || !isToSend(record)) continue
    isBehind = (await (record.isRemoved === true ? sendRemoval : send)(copy, client, record)) || isBehind
  }
  return isBehind
}

/** Whether a conversation has changes for the service. */
export function isToSend({ unsent, isLocal, isRefused }: SyncRecord): boolean {
  return unsent > 0 && isLocal === undefined && isRefused === undefined
}

/** @returns whether the service has another version */
async function sendRemoval(copy: SyncedCopy, client: HistoryClient, { id, version }: SyncRecord): Promise<boolean> {
  const isDone = version === 0 || (await client.remove(id, version))
  await copy.change(id, (now) => (now === undefined || now.isRemoved === true ? undefined : withoutVersion(now)))
  return !isDone
}

/** @returns whether the service has another version, which is merged */
async function send(copy: SyncedCopy, client: HistoryClient, record: SyncRecord): Promise<boolean> {
  const { id, version } = record
  const mine = await copy.local.get(id)
  const outcome = mine === undefined ? undefined : await client.write(mine, version)
  if (outcome !== 'conflict') {
    await copy.change(id, (now) => recordAfter(record, now, mine, outcome))
    return false
  }
  const [found] = await client.read([id])
  if (found !== undefined) await copy.merge(id, found.version, found.conversation)
  else await copy.change(id, (now) => now && withoutVersion(now))
  return true
}

/** Returns the record of a conversation that was sent. @param now its record since, which may have changed meanwhile */
function recordAfter(
  { id, version, unsent }: SyncRecord,
  now: SyncRecord | undefined,
  mine: Conversation | undefined,
  outcome: number | 'refused' | undefined,
): SyncRecord | undefined {
  // Removed here while it was sent.
  if (now === undefined)
    return typeof outcome === 'number' ? { ...noRecord(id), version: outcome, unsent: 1, isRemoved: true } : undefined
  const isLatest = now.unsent === unsent
  if (mine === undefined) return isLatest && now.isRemoved === undefined ? undefined : now
  if (outcome === 'refused') return isLatest ? { ...now, isRefused: true } : now
  const sent = { version: outcome ?? version, common: commonOf(mine), unsent: isLatest ? 0 : now.unsent }
  return { ...now, ...sent, isUnreadable: undefined }
}

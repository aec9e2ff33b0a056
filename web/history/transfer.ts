import { isRecord } from '../../src/base/json-value.ts'
import { messageOf } from '../message-of.ts'
import { newId } from '../new-id.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import type { Conversation, HistoryStore } from './conversation.ts'
import { oneLine } from './one-line.ts'
import { parseConversation } from './parse-conversation.ts'

/**
 * `format` and `version` of an export file (docs/conversation-format.md). Without versions of messages, files are as
 * they were in version 1.
 */
const format = 'svc-conversations',
  linearVersion = 1,
  treeVersion = 2

/** Maximum size of an import file in bytes. */
export const importBytesMax = 100 * 1024 * 1024

const conversationsMax = 100_000

/** Conversations to import before yielding to the page. */
const yieldEvery = 20

/** Why a file is rejected as a whole, as a text for the user. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused'
}

/** Outcome of an import. */
export interface ImportReport {
  /** Number of new conversations. */
  readonly added: number
  /** Number of conversations that were present and equal. */
  readonly same: number
  /** Conversations that were not imported. */
  readonly faults: readonly ImportFault[]
}

/** Why a conversation was not imported. */
export interface ImportFault {
  /** Position in the file, from 1. */
  readonly place: number
  /** Its title, if it has one. */
  readonly title?: string
  readonly why: string
}

/** Exports conversations as JSON, one per line, so that other programs can search and compare them. */
export async function exportJson(conversations: readonly Conversation[], now: Date): Promise<Blob> {
  const version = conversations.some(({ leaf }) => leaf !== undefined) ? treeVersion : linearVersion
  const parts = [`{"format":"${format}","version":${version},"exported":"${now.toISOString()}","conversations":[\n`]
  for (const [index, each] of conversations.entries()) {
    if (index % yieldEvery === yieldEvery - 1) await toOthers()
    parts.push(`${JSON.stringify(each)}${index < conversations.length - 1 ? ',' : ''}\n`)
  }
  return new Blob([...parts, ']}\n'], { type: 'application/json' })
}

/**
 * Imports a file of conversations, each on its own. A conversation with a known id is skipped if it is equal, and
 * otherwise gets a new id.
 *
 * @param onProgress called with the numbers done and in total
 * @throws {ImportRefused} if the file is invalid or too large; nothing is imported then
 */
export async function importJson(
  file: Blob,
  history: HistoryStore,
  onProgress: (done: number, all: number) => void = () => undefined,
): Promise<ImportReport> {
  const entries = entriesOf(await parseFile(file))
  const report = { added: 0, same: 0 },
    faults: ImportFault[] = []
  for (const [index, entry] of entries.entries()) {
    if (index % yieldEvery === yieldEvery - 1) await toOthers()
    const why = await importOne(entry, history, report)
    if (why !== undefined) faults.push(faultOf(index, entry, why))
    if (history.fault === 'full') {
      faults.push(...entries.slice(index + 1).map((each, rest) => faultOf(index + 1 + rest, each, full)))
      break
    }
    onProgress(index + 1, entries.length)
  }
  return { ...report, faults }
}

const full = say.history.refused.full

async function parseFile(file: Blob): Promise<unknown> {
  if (file.size > importBytesMax)
    throw new ImportRefused(
      say.history.refused.size(
        formatCount(Math.ceil(file.size / 1024 / 1024)),
        formatCount(importBytesMax / 1024 / 1024),
      ),
    )
  try {
    return JSON.parse(await file.text())
  } catch (error) {
    throw new ImportRefused(say.history.refused.notJson, { cause: error })
  }
}

function entriesOf(content: unknown): readonly unknown[] {
  if (!isRecord(content) || content['format'] !== format || !Array.isArray(content['conversations'])) {
    throw new ImportRefused(say.history.refused.noConversations)
  }
  if (content['version'] !== linearVersion && content['version'] !== treeVersion)
    throw new ImportRefused(
      say.history.refused.version(String(content['version']).slice(0, 20), String(linearVersion), String(treeVersion)),
    )
  if (content['conversations'].length > conversationsMax)
    throw new ImportRefused(
      say.history.refused.tooMany(formatCount(content['conversations'].length), formatCount(conversationsMax)),
    )
  return content['conversations']
}

/** Imports one conversation. Returns the reason if it was not imported. */
async function importOne(
  entry: unknown,
  history: HistoryStore,
  report: { added: number; same: number },
): Promise<string | undefined> {
  const parsed = parseConversation(entry)
  if (parsed.kind === 'damaged') return parsed.why
  const isKnown = (await history.head(parsed.value.id)) !== undefined
  const known = isKnown ? await history.get(parsed.value.id) : undefined
  if (known !== undefined && isSame(known, parsed.value)) {
    report.same++
    return undefined
  }
  const conversation = isKnown ? { ...parsed.value, id: newId() } : parsed.value
  try {
    await history.restore(conversation)
  } catch (error) {
    return messageOf(error)
  }
  if (history.fault === 'full') {
    await history.remove(conversation.id)
    return full
  }
  report.added++
  return undefined
}

/** Parsed conversations have their fields in one order. */
function isSame(known: Conversation, read: Conversation): boolean {
  const parsed = parseConversation(known)
  return parsed.kind === 'ok' && JSON.stringify(parsed.value) === JSON.stringify(read)
}

function faultOf(index: number, entry: unknown, why: string): ImportFault {
  const title = isRecord(entry) && typeof entry['title'] === 'string' ? oneLine(entry['title'].slice(0, 60)).trim() : ''
  return { place: index + 1, ...(title === '' ? {} : { title }), why }
}

function toOthers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

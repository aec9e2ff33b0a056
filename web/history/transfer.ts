import { isRecord } from '../../src/wire/json-value.ts'
import { newId } from '../new-id.ts'
import type { Conversation, HistoryStore } from './conversation.ts'
import { oneLine } from './one-line.ts'
import { parseConversation } from './parse-conversation.ts'

/** What stands in a file of conversations as `format` and `version` (docs/page.md). */
const format = 'svc-conversations',
  version = 1

/** Bytes of a file that is read. */
export const importBytesMax = 100 * 1024 * 1024

const conversationsMax = 100_000

/** After so many the page may do something else. */
const atOnce = 20

/** Why nothing of a file is taken, in words for people. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused'
}

/** What became of a file. */
export interface ImportReport {
  /** How many are new here. */
  readonly added: number
  /** How many were here already, just so. */
  readonly same: number
  /** Those that were not taken. */
  readonly faults: readonly ImportFault[]
}

/** Why one conversation of a file was not taken. */
export interface ImportFault {
  /** Its place in the file, from 1. */
  readonly place: number
  /** Its title, where it has one. */
  readonly title?: string
  readonly why: string
}

/** Conversations as a file: one a line, so that it can be searched and compared by other programs. */
export async function exportJson(conversations: readonly Conversation[], now: Date): Promise<Blob> {
  const parts = [`{"format":"${format}","version":${version},"exported":"${now.toISOString()}","conversations":[\n`]
  for (const [index, each] of conversations.entries()) {
    if (index % atOnce === atOnce - 1) await toOthers()
    parts.push(`${JSON.stringify(each)}${index < conversations.length - 1 ? ',' : ''}\n`)
  }
  return new Blob([...parts, ']}\n'], { type: 'application/json' })
}

/**
 * Takes over what is in a file of ours, each conversation by itself. One whose id is here already is left out when it
 * is the same, and gets a new id when it is not.
 *
 * @param onProgress told how many of how many are done
 * @throws {ImportRefused} when it is no such file, or too large; then nothing was taken
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
    if (index % atOnce === atOnce - 1) await toOthers()
    const why = await takeOver(entry, history, report)
    if (why !== undefined) faults.push(faultOf(index, entry, why))
    if (history.fault === 'full') {
      faults.push(...entries.slice(index + 1).map((each, rest) => faultOf(index + 1 + rest, each, full)))
      break
    }
    onProgress(index + 1, entries.length)
  }
  return { ...report, faults }
}

const full = 'the browser gives no more room'

async function parseFile(file: Blob): Promise<unknown> {
  if (file.size > importBytesMax)
    throw new ImportRefused(
      `The file has ${Math.ceil(file.size / 1024 / 1024)} MB. At most ${importBytesMax / 1024 / 1024} MB are read.`,
    )
  try {
    return JSON.parse(await file.text())
  } catch (error) {
    throw new ImportRefused('The file is no JSON, or only a part of it.', { cause: error })
  }
}

function entriesOf(content: unknown): readonly unknown[] {
  if (!isRecord(content) || content['format'] !== format || !Array.isArray(content['conversations'])) {
    throw new ImportRefused('The file holds no conversations of this service. Take one that was made by Export here.')
  }
  if (content['version'] !== version)
    throw new ImportRefused(
      `The file is of version ${String(content['version']).slice(0, 20)}. This page reads version ${version}.`,
    )
  if (content['conversations'].length > conversationsMax)
    throw new ImportRefused(
      `The file holds ${content['conversations'].length} conversations. At most ${conversationsMax} are read.`,
    )
  return content['conversations']
}

/** Returns why it was not taken. */
async function takeOver(
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
    return error instanceof Error ? error.message : String(error)
  }
  if (history.fault === 'full') {
    await history.remove(conversation.id)
    return full
  }
  report.added++
  return undefined
}

/** What was parsed has its fields in one order. */
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

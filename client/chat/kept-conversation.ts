import { readFile, stat } from 'node:fs/promises'
import { isMissing } from '../../src/base/error-code.ts'
import { isRecord } from '../../src/base/json-value.ts'
import type { ClientHost } from '../host.ts'
import { readMessages, type ChatMessage } from './messages.ts'

/** Largest file of a kept conversation. Of a longer one, the first questions are left out. */
const fileBytesMax = 16 * 1024 * 1024

/** A conversation, as it is kept for `svc chat --continue`. */
export interface KeptConversation {
  readonly model: string
  readonly system: string | undefined
  /** Questions and answers, in turn. */
  readonly messages: readonly ChatMessage[]
}

/**
 * Reads the last conversation. @returns undefined when none is kept
 *
 * @throws with the path and the way out, when the file is none of ours
 */
export async function readConversation(path: string): Promise<KeptConversation | undefined> {
  let text: string
  try {
    const { size } = await stat(path)
    if (size > 2 * fileBytesMax) throw new Error(`it has ${size} bytes`)
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  }
  const kept = parseConversation(text)
  if (kept === undefined) throw unreadable(path, new Error('it is no conversation of svc'))
  return kept
}

function unreadable(path: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error)
  return new Error(
    `the last conversation in ${path} cannot be read: ${reason}; remove the file, or ask without --continue`,
  )
}

function parseConversation(text: string): KeptConversation | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The caller reports it, with the path.
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { model, system } = value
  const messages = readMessages(value['messages'])
  if (typeof model !== 'string' || messages === undefined) return undefined
  if (system !== undefined && typeof system !== 'string') return undefined
  return { model, system, messages }
}

/**
 * Replaces the last conversation, readable by its owner only. @returns false when even its last question is too large;
 * the file stays as it was
 */
export async function keepConversation(
  path: string,
  conversation: KeptConversation,
  { writeFile }: Pick<ClientHost, 'writeFile'>,
): Promise<boolean> {
  const text = bounded(conversation)
  if (text === undefined) return false
  await writeFile(path, text)
  return true
}

/** Leaves out the first questions with their answers, until the rest fits. */
function bounded({ model, system, messages }: KeptConversation): string | undefined {
  const sizes = messages.map((message) => Buffer.byteLength(JSON.stringify(message)) + 1)
  let total = sizes.reduce(
    (sum, size) => sum + size,
    Buffer.byteLength(JSON.stringify({ model, system, messages: [] })),
  )
  let first = 0
  while (first < messages.length && (total > fileBytesMax || messages[first]?.role !== 'user')) {
    total -= sizes[first] ?? 0
    first++
  }
  const left = messages.slice(first)
  return left.length === 0 ? undefined : JSON.stringify({ model, system, messages: left })
}

import type {
  AccessFileAnswer,
  AccessFileChange,
  LimitDraftAnswer,
  LimitDraftChange,
  MadeKeyEntry,
} from '../../src/http/page/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import { entryOf, newFields, type LimitFields } from '../limits/limit-fields.ts'
import { say } from '../texts/say.ts'

/** A key of a program, as the form has it. */
export interface ProgramKey {
  readonly name: string
  readonly models: readonly string[]
  readonly days: number
  /** In USD, as typed. Empty: no limit. */
  readonly usd: string
  readonly per: string
}

/** The limit of the key cannot be saved. The message says why. */
class LimitRefused extends Error {}

/**
 * Makes a key with its limit, or neither: a key whose limit is not saved ends before it is shown.
 *
 * @throws {ApiError} @throws {Unreachable} @throws {LimitRefused}
 */
export async function makeProgramKey(
  client: ApiClient,
  { name, models, days, usd, per }: ProgramKey,
): Promise<MadeKeyEntry> {
  const limitOf = (line: number): LimitFields => ({ ...newFields(`key:${line}`), usd, moneyPer: per })
  // Checked before there is a key. The line of the key is not known yet.
  if (usd.trim() !== '') await draftOf(client, limitOf(unusedLine))
  const made = await client.post<MadeKeyEntry>('/v1/keys', { name, days, ...(models.length === 0 ? {} : { models }) })
  if (usd.trim() === '') return made
  try {
    const { base, text } = await draftOf(client, limitOf(made.line))
    const change: AccessFileChange = { version: base.version, text }
    await client.post<AccessFileAnswer>('/api/limits/file', change)
    return made
  } catch (error) {
    await client.fetch(`/v1/keys/${made.id}`, { method: 'DELETE' }).catch(() => {
      throw new LimitRefused(say.keys.leftWithoutLimit(name))
    })
    throw error
  }
}

const unusedLine = 999_999_999_999_999

async function draftOf(client: ApiClient, fields: LimitFields): Promise<LimitDraftAnswer> {
  const change: LimitDraftChange = { limit: entryOf(fields) }
  const draft = await client.post<LimitDraftAnswer>('/api/limits/draft', change)
  if (draft.faults.length > 0) throw new LimitRefused(draft.faults.map(({ message }) => message).join(' '))
  return draft
}

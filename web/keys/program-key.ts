import type { MadeKeyEntry, ProgramKeyChange } from '../../src/http/page/page-api.ts'
import type { ApiClient } from '../api/client.ts'
import { entryOf, newFields } from '../limits/limit-fields.ts'

/** A key of a program, as the form has it. */
export interface ProgramKey {
  readonly name: string
  readonly models: readonly string[]
  readonly days: number
  /** In USD, as typed. Empty: no limit. */
  readonly usd: string
  readonly per: string
}

/** Makes a key with its limit, or neither. @throws {ApiError} @throws {Unreachable} */
export function makeProgramKey(client: ApiClient, { name, models, days, usd, per }: ProgramKey): Promise<MadeKeyEntry> {
  const { for: _, ...limit } = entryOf({ ...newFields(''), usd, moneyPer: per })
  const change: ProgramKeyChange = {
    key: { name, days, ...(models.length === 0 ? {} : { models }) },
    ...(usd.trim() === '' ? {} : { limit }),
  }
  return client.post<MadeKeyEntry>('/api/program-keys', change)
}

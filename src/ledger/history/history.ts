import type { Person } from '../../people/person.ts'
import { LedgerRefused } from '../ledger.ts'

/** The conversations of people (docs/decisions/0031-history-on-the-server.md). */
export interface History {
  /** Lists what changed in the conversations of a person. */
  changes(person: string, options: ChangesOptions): Promise<HistoryChanges>
  /**
   * Reads conversations. Those that cannot be decrypted have a fault. Leaves out unknown ones, and those beyond
   * {@link answerBytesMax}, except the first.
   */
  read(person: string, ids: readonly string[]): Promise<readonly StoredConversation[]>
  write(person: Person, conversation: WrittenConversation): Promise<WriteOutcome>
  /** @param base the version that is removed */
  remove(person: string, id: string, base: number): Promise<WriteOutcome>
  /** Removes all conversations whose last change has at most this number. */
  clear(person: string, until: number): Promise<void>
  /**
   * Removes the conversations of all people that were not changed since a time, except pinned ones and those that
   * cannot be read. Browsers remove their copies.
   *
   * @param before Unix milliseconds
   * @returns their number
   */
  sweep(before: number, isPinned: PinReader): Promise<number>
  /** When a conversation was last changed, in Unix milliseconds; `undefined`: there is none. */
  lastWritten(): Promise<number | undefined>
  close(): Promise<void>
}

/** Reads in the JSON of a conversation whether it is pinned. It rejects for another text. */
export type PinReader = (text: string) => Promise<boolean>

/** Options of {@link History.changes}. */
export interface ChangesOptions {
  /** Number of a change. */
  readonly after: number
  /** All conversations are listed, over several answers: removed ones are left out. */
  readonly isWhole: boolean
}

/** A part of the changes. */
export interface HistoryChanges {
  /** Id of the database: another one has other numbers. */
  readonly database: string
  /** Number of the person, which changes when they are forgotten. 0: nothing is stored. */
  readonly person: number
  /** The number of the last change of all people. */
  readonly last: number
  /** Removals after the wanted number are not known any more: the whole list must be read. */
  readonly isTooOld: boolean
  /** More entries follow the last one. */
  readonly isCut: boolean
  /** In the order of their changes. */
  readonly entries: readonly ChangedConversation[]
}

/** The last change of a conversation. */
export interface ChangedConversation {
  readonly id: string
  /** The number of the change, which no other state of any conversation has. */
  readonly version: number
  readonly isRemoved: boolean
}

/** A conversation in the clear. */
export interface StoredConversation {
  readonly id: string
  readonly version: number
  /** JSON; `null` if it cannot be decrypted. */
  readonly text: string
  /** Why it cannot be decrypted. Absent: it was. */
  readonly fault?: string
}

/** A conversation to be stored. */
export interface WrittenConversation {
  readonly id: string
  /** The version that it replaces; 0: there is none, or it was removed. */
  readonly base: number
  /** JSON, as text or in UTF-8. */
  readonly text: string | Uint8Array
}

/** What became of a write. */
export type WriteOutcome =
  /** @property version 0: removed before */
  | { readonly kind: 'written'; readonly version: number }
  /** The stored version is another one; 0: there is none, or it was removed. */
  | { readonly kind: 'conflict'; readonly version: number }
  /** The person has as much as they may have. */
  | { readonly kind: 'full' }

/** Bytes of a conversation. */
export const conversationBytesMax = 16 * 1024 * 1024

/** Bytes that one answer with conversations aims at. */
export const answerBytesMax = 8 * 1024 * 1024

/** The key in the environment is not the one of the database. */
export class HistoryKeyWrong extends LedgerRefused {}

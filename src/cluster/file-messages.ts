import type { FileFault } from './file-fault.ts'

/** What workers ask the primary of the files they follow. */
export type FileCoordinatorAnswers = {
  /**
   * Watches a file; resolves when what it holds is known: what is written from then on is a change. @throws when it is
   * gone, but others go on with what it held
   */
  follow(path: string): Promise<void>
  /** Takes a file over anew, changed or not. Resolves when that is done or given up. */
  reload(path: string): Promise<void>
}

/** What came of loading a file: what it held then, or why it is not sound. */
export type Prepared = { readonly fingerprint: string } | { readonly fault: FileFault }

/** What a worker does with a file it follows, when the primary says so (docs/decisions/0009-many-processes.md). */
export type FileFollowerAnswers = {
  /** Loads it, and puts nothing in force yet. Nothing: it follows the file no longer, being about to end. */
  prepare(path: string): Promise<Prepared | undefined>
  /** Puts in force what was loaded. */
  takeOver(order: { readonly path: string; readonly isSpeaker: boolean }): Promise<void>
  /** Keeps what is in force; what was loaded is let go. */
  keep(order: { readonly path: string; readonly fault: FileFault; readonly isSpeaker: boolean }): Promise<void>
}

import type { FindingNotes } from '../findings.ts'
import type { Planner } from '../planner.ts'
import type { SourceSyntax } from '../read-source.ts'
import type { SourceNode } from '../source-tree.ts'

/** What a reader of a source works with. */
export interface Reading {
  readonly root: SourceNode
  readonly findings: FindingNotes
  readonly plan: Planner
  /** The files that `root` includes, by their names. */
  readonly included: ReadonlyMap<string, SourceNode>
}

/** A gateway whose configuration can be imported. */
export interface ImportSource {
  readonly name: string
  readonly syntax: SourceSyntax
  /** Whether a file has the shape of this source. */
  readonly looksLike: (root: SourceNode) => boolean
  /** The files that are read, too; they stand beside the imported one. Absent: none. */
  readonly includes?: (root: SourceNode) => readonly SourceNode[]
  /** Adds to the plan, and notes what becomes of each value. Values without a note are unsupported. */
  readonly read: (reading: Reading) => void
}

/** A note for members of an object, by their names. */
export type Notes = Readonly<Record<string, readonly ['exact' | 'approximate' | 'manual' | 'unsupported', string]>>

/** Notes the members of an object that the table names. */
export function noteMembers(findings: FindingNotes, node: SourceNode | undefined, notes: Notes): void {
  for (const [name, [status, message]] of Object.entries(notes)) findings.note(node?.get(name), status, message)
}

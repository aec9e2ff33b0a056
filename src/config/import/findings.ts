import type { SourceNode } from './source-tree.ts'

/**
 * What became of a value: `exact` as it was, `approximate` nearly so, as the message says; `manual`: it is to be done
 * by hand; `unsupported`: svc has no such thing.
 */
export const findingStatuses = ['exact', 'approximate', 'manual', 'unsupported'] as const
export type FindingStatus = (typeof findingStatuses)[number]

/** What became of one value of the imported file. It never has the value. */
export interface Finding {
  readonly status: FindingStatus
  readonly path: string
  readonly line: number
  /** The file, if it was included by the imported one. */
  readonly file?: string
  /** The place in the written file. */
  readonly target?: string
  readonly message?: string
}

interface Note {
  readonly status: FindingStatus
  readonly message: string | undefined
  readonly part: object | undefined
}

/** Takes one note for each value of the imported file. The first one counts. */
export class FindingNotes {
  readonly #notes = new Map<SourceNode, Note>()

  /**
   * Notes what became of all values of a node that have no note yet.
   *
   * @param part of the plan, whose place in the written file is the target
   */
  note(node: SourceNode | undefined, status: FindingStatus, message?: string, part?: object): void {
    if (node === undefined) return
    for (const leaf of node.leaves()) if (!this.#notes.has(leaf)) this.#notes.set(leaf, { status, message, part })
  }

  /** The findings for all values, in the order of the files. @param placeOf the place of a part in the written file */
  of(roots: readonly SourceNode[], placeOf: (part: object) => string | undefined): readonly Finding[] {
    return roots.flatMap((root) =>
      Array.from(root.leaves(), (leaf): Finding => {
        const { path, line, file } = leaf
        const place = { path, line, ...(file === undefined ? {} : { file }) }
        const note = this.#notes.get(leaf)
        if (note === undefined) return { status: 'unsupported', ...place, message: 'svc has no such setting' }
        const target = note.part === undefined ? undefined : placeOf(note.part)
        return {
          ...{ status: note.status, ...place },
          ...(target === undefined ? {} : { target }),
          ...(note.message === undefined ? {} : { message: note.message }),
        }
      }),
    )
  }
}

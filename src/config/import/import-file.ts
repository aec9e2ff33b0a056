import { basename } from 'node:path'
import { emit, type Emitted } from './emit.ts'
import { FindingNotes, findingStatuses, type Finding, type FindingStatus } from './findings.ts'
import { importSources } from './import-list.ts'
import { Planner } from './planner.ts'
import { readSource } from './read-source.ts'
import { SourceNode } from './source-tree.ts'
import type { ImportSource } from './sources/source.ts'

/** An import that has been read. Nothing is written yet. */
export interface Imported {
  readonly source: string
  readonly findings: readonly Finding[]
  readonly counts: Readonly<Record<FindingStatus, number>>
  /** Undefined: the file has no provider that svc can use. */
  readonly files: Emitted | undefined
}

/** The file has the shape of no source, or of several. */
export class UnknownSource extends Error {
  override readonly name = 'UnknownSource'
}

export interface ImportOptions {
  /** The name of the file, for messages. */
  readonly file: string
  /** Undefined: the shape of the file decides. */
  readonly source?: ImportSource | undefined
  /** Reads a file beside the imported one. Undefined: there is none. */
  readonly readBeside: (name: string) => Promise<string | undefined>
}

/**
 * Reads the configuration of another gateway.
 *
 * @throws {ConfigError} for a file that cannot be read
 * @throws {UnknownSource}
 */
export async function importFile(text: string, { file, source: named, readBeside }: ImportOptions): Promise<Imported> {
  const source = named ?? (await sourceOf(text, file))
  const root = await readSource(text, file, source.syntax)
  const included = new Map<string, SourceNode>()
  for (const { text: name } of source.includes?.(root) ?? []) {
    const inner = name === undefined || name !== basename(name) ? undefined : await readBeside(name)
    if (name !== undefined && inner !== undefined)
      included.set(name, inFile(await readSource(inner, name, source.syntax), name))
  }
  const findings = new FindingNotes()
  const plan = new Planner()
  source.read({ root, findings, plan, included })
  const hasProviders = plan.routes.size + plan.open.length > 0
  const files = hasProviders ? emit(plan, source.name) : undefined
  const all = findings.of([root, ...included.values()], (part) => files?.placeOf(part))
  const counts = { exact: 0, approximate: 0, manual: 0, unsupported: 0 }
  for (const status of findingStatuses) counts[status] = all.filter((finding) => finding.status === status).length
  return { source: source.name, findings: all, counts, files }
}

/** The source whose shape the file has. @throws {UnknownSource} */
async function sourceOf(text: string, file: string): Promise<ImportSource> {
  const fitting: ImportSource[] = []
  for (const source of importSources) {
    const root = await readSource(text, file, source.syntax).catch(() => undefined)
    if (root !== undefined && source.looksLike(root)) fitting.push(source)
  }
  const [found, other] = fitting
  const names = (fitting.length === 0 ? importSources : fitting).map(({ name }) => name)
  if (found === undefined) throw new UnknownSource(`${file} has the shape of none of ${names.join(', ')}`)
  if (other !== undefined) throw new UnknownSource(`${file} may be of ${names.join(' or ')}: name one before the file`)
  return found
}

function inFile(node: SourceNode, file: string): SourceNode {
  const { kind, value, path, line } = node
  const made = new SourceNode({ kind, value, path, line, file })
  for (const [name, member] of node.members) made.members.set(name, inFile(member, file))
  made.items.push(...node.items.map((item) => inFile(item, file)))
  return made
}

import type { RecordedLimit } from '../../observe/record.ts'

/** Limits of one request, and models of a limit, that are stored. */
const limitsMax = 8
const modelsMax = 8
/** Labels have an index, whose entries PostgreSQL limits to 2,704 bytes. */
const bytesMax = 2_000

/** The limits that a request met as the text of a label: most requests that meet limits meet the same ones. */
export function limitsLabel(limits: readonly RecordedLimit[] = []): string {
  if (limits.length === 0) return ''
  const kept = limits.slice(0, limitsMax)
  const text = JSON.stringify(
    kept.map(({ models, ...limit }) =>
      models === undefined ? limit : { ...limit, models: models.slice(0, modelsMax) },
    ),
  )
  if (Buffer.byteLength(text) <= bytesMax) return text
  return JSON.stringify(kept.map(({ models: _, ...limit }) => limit))
}

/** The limits of a label. A label that stands for many others has none. */
export function limitsOfLabel(text: string): readonly RecordedLimit[] {
  // This service wrote it, or it is the text of many others.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return text.startsWith('[') ? (JSON.parse(text) as readonly RecordedLimit[]) : []
}

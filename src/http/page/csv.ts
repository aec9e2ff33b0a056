import type { HandlerContext } from '../handler-context.ts'

/** A line of RFC 4180. Absent values are empty. */
export function csvLine(values: readonly (string | number | undefined)[]): string {
  return `${values.map(csvCell).join(',')}\r\n`
}

/** The name of a column: a member in lower case with `_`. */
export function columnName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Place of a formula: at the start, or after a `;`, which separates cells in spreadsheets of many languages. */
const formulaPlace = /(?<=^|;)(?=\s*[=+\-@＝＋－＠])|^(?=[\t\r])/gu

/** Spreadsheets run text that begins like a formula: an apostrophe before it prevents that. */
function csvCell(value: string | number | undefined = ''): string {
  if (typeof value === 'number') return decimal(value)
  const text = value.replace(formulaPlace, "'")
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Writes a number without an exponent, and with at most nine digits behind the point. */
function decimal(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '')
}

/**
 * A file that is written at the pace of its reader.
 *
 * @param next the next lines, which may be none; `undefined`: there are no more
 */
export function csvFile(
  { id, request }: HandlerContext,
  {
    name,
    head,
    next,
  }: { readonly name: string; readonly head: string; readonly next: () => Promise<string | undefined> },
): Response {
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
    'x-request-id': id,
  }
  if (request.method === 'HEAD') return new Response(null, { headers })
  const encoder = new TextEncoder()
  let hasLeft = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(head))
    },
    async pull(controller) {
      let lines: string | undefined = ''
      while (lines === '' && !hasLeft) lines = await next()
      if (hasLeft) return
      if (lines === undefined) controller.close()
      else controller.enqueue(encoder.encode(lines))
    },
    cancel() {
      hasLeft = true
    },
  })
  return new Response(body, { headers })
}

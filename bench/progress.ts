/** Prints a line of progress on stderr. */
export function progress(text: string): void {
  console.error(`bench: ${text}`)
}

/** Describes an error for a public report: in one line, without network addresses. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text
    .replaceAll(/\bhttps?:\/\/[^\s'")]+/g, '(address)')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Says on stderr what is under way. */
export function progress(text: string): void {
  console.error(`bench: ${text}`)
}

/** What went wrong, for a report that others read: in one line, without addresses of the network. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text
    .replaceAll(/\bhttps?:\/\/[^\s'")]+/g, '(address)')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Has the browser save this as a file. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser may still be reading it; a minute later it is not.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** A name for a file that every system takes: `monads-and-you.md`. @param ending such as `md` */
export function fileNameOf(title: string, ending: string): string {
  const name = title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '')
  return `${name || 'conversation'}.${ending}`
}

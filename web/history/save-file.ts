/** Downloads a file. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser may still be reading it; after a minute it is done.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Derives a portable file name: `monads-and-you.md`. @param ending such as `md` */
export function fileNameOf(title: string, ending: string): string {
  const name = title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '')
  return `${name || 'conversation'}.${ending}`
}

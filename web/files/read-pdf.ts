import { getDocumentProxy } from 'unpdf'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import type { FileText } from './decode-text.ts'

/** See {@link FileText}. */
export type PdfText = FileText

/** Options for reading a PDF. */
export interface PdfOptions {
  readonly signal: AbortSignal
  /** Reading ends after this many characters. */
  readonly charactersMax: number
  readonly onPage: (page: number, pages: number) => void
}

const pagesMax = 2_000

/** Reads the text of a PDF, page by page. Its scripts, forms, links and pictures are not looked at. */
export async function readPdf(
  bytes: Uint8Array<ArrayBuffer>,
  { signal, charactersMax, onPage }: PdfOptions,
): Promise<PdfText> {
  let document: Awaited<ReturnType<typeof getDocumentProxy>>
  try {
    document = await getDocumentProxy(bytes, { useSystemFonts: false, disableFontFace: true, stopAtErrors: false })
  } catch (error) {
    return error instanceof Error && error.name === 'PasswordException'
      ? { why: say.files.password }
      : { why: say.files.damagedPdf }
  }
  try {
    const { numPages } = document
    if (numPages > pagesMax) return { why: say.files.tooManyPages(formatCount(numPages), formatCount(pagesMax)) }
    const pages: string[] = []
    let characters = 0
    for (let number = 1; number <= numPages; number++) {
      if (signal.aborted) return { why: say.files.cancelled }
      onPage(number, numPages)
      const { items } = await (await document.getPage(number)).getTextContent()
      const text = items
        .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
        .join('')
        .trim()
      pages.push(text)
      characters += text.length
      // The caller says that it is too long.
      if (characters > charactersMax) break
      // Lets the page draw and take a click on Cancel.
      await new Promise((resolve) => setTimeout(resolve))
    }
    const text = pages.join('\n\n').trim()
    return text === '' ? { why: say.files.noTextPdf } : { text }
  } catch {
    return { why: say.files.damagedPdf }
  } finally {
    await document.loadingTask.destroy()
  }
}

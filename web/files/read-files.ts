import type { FileAttachment, ImageAttachment } from '../history/conversation.ts'
import { isPictureLike, readImages, type RefusedFile } from '../images/attach.ts'
import { newId } from '../new-id.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'
import { decodeText } from './decode-text.ts'
import type { PdfOptions, PdfText } from './read-pdf.ts'

/** Limits for the files of one message. */
export const fileLimits = {
  files: 10,
  /** Size of a file. */
  bytes: 20 * 1024 * 1024,
  /** Characters of all texts together: about 500,000 tokens. */
  characters: 2_000_000,
} as const

/** Outcome of {@link readFiles}. */
export interface ReadFiles {
  readonly images: readonly ImageAttachment[]
  readonly files: readonly FileAttachment[]
  readonly refused: readonly RefusedFile[]
}

export interface ReadFilesOptions {
  /** Already attached; they count towards the limits. */
  readonly attached?: {
    readonly images: readonly ImageAttachment[]
    readonly files?: readonly FileAttachment[] | undefined
  }
  /** Aborts between two files, and between two pages of a PDF. */
  readonly signal?: AbortSignal
  /** Called with what is being read: `report.pdf, page 3 of 120`. */
  readonly onProgress?: (what: string) => void
  /** Default: reads by a library that is loaded then. */
  readonly readPdf?: (bytes: Uint8Array<ArrayBuffer>, options: PdfOptions) => Promise<PdfText>
}

const nameCharactersMax = 200
const pdfMark = '%PDF-'
/** A PDF may have some bytes before its mark. */
const pdfMarkWithin = 1024

/** Reads pictures as images, PDF files by their text, and other files as text. Files are read one at a time. */
export async function readFiles(
  given: readonly File[],
  {
    attached = { images: [] },
    signal = new AbortController().signal,
    onProgress = () => undefined,
    readPdf = loadedPdfReader,
  }: ReadFilesOptions = {},
): Promise<ReadFiles> {
  const images: ImageAttachment[] = []
  const files: FileAttachment[] = []
  const refused: RefusedFile[] = []
  const filesBefore = attached.files ?? []
  let characters = filesBefore.reduce((sum, { text }) => sum + text.length, 0)

  async function textOf(file: File, name: string): Promise<PdfText> {
    if (filesBefore.length + files.length >= fileLimits.files)
      return { why: say.files.atMost(formatCount(fileLimits.files)) }
    if (file.size > fileLimits.bytes) return { why: say.files.larger }
    const bytes = await bytesOf(file)
    if (bytes === undefined) return { why: say.files.notRead }
    if (bytes.length === 0) return { why: say.files.empty }
    const charactersMax = fileLimits.characters - characters
    const read = isPdf(bytes)
      ? await readPdf(bytes, {
          signal,
          charactersMax,
          onPage: (page, pages) => onProgress(say.files.pageOf(name, formatCount(page), formatCount(pages))),
        })
      : decodeText(bytes)
    return 'text' in read && read.text.length > charactersMax ? { why: say.files.tooLong } : read
  }

  for (const file of given) {
    if (signal.aborted) break
    const name = file.name.slice(0, nameCharactersMax) || 'file'
    onProgress(name)
    if (await isPictureLike(file)) {
      const read = await readImages([file], { attached: [...attached.images, ...images] })
      images.push(...read.images)
      refused.push(...read.refused)
      continue
    }
    const read = await textOf(file, name)
    if (signal.aborted) break
    if ('why' in read) refused.push({ name, why: read.why })
    else {
      files.push({ id: newId(), name, text: read.text })
      characters += read.text.length
    }
  }
  return { images, files, refused }
}

async function loadedPdfReader(bytes: Uint8Array<ArrayBuffer>, options: PdfOptions): Promise<PdfText> {
  return (await import('./read-pdf.ts')).readPdf(bytes, options)
}

async function bytesOf(file: File): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await file.arrayBuffer())
  } catch {
    // Moved or deleted since it was chosen, or a folder.
    return undefined
  }
}

function isPdf(bytes: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(bytes.subarray(0, pdfMarkWithin)).includes(pdfMark)
}

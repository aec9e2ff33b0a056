import { say } from '../texts/say.ts'

/** The text of a file, or why it has none, as a sentence. */
export type FileText = { readonly text: string } | { readonly why: string }

const notText: FileText = { why: say.files.notText }

/**
 * Decodes a text file: UTF-16 with a byte order mark, UTF-8, or else Windows-1252, in which spreadsheets write CSV.
 * Lines end with `\n`.
 */
export function decodeText(bytes: Uint8Array): FileText {
  const encoding = encodingOf(bytes)
  const text = decodedAs(encoding, bytes) ?? (encoding === 'utf-8' ? decodedAs('windows-1252', bytes) : undefined)
  if (text === undefined || hasControls(text)) return notText
  return text.trim() === '' ? { why: say.files.noText } : { text: text.replace(/\r\n?/g, '\n') }
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

function decodedAs(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether a text has characters that only binary files have. */
function hasControls(text: string): boolean {
  return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f-\u009f]/.test(text)
}

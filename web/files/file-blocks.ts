import type { FileAttachment } from '../history/conversation.ts'

/** Average for English. */
const charactersPerToken = 4

/** Tokens of a text, about. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}

/**
 * The text that a model gets: each file in a code block with its name, then the person's text. No file can end its
 * block, since the fence is longer than any in it.
 */
export function withFiles(text: string, files: readonly FileAttachment[] = []): string {
  const blocks = files.map(fileBlock)
  return [...blocks, ...(text === '' ? [] : [text])].join('\n\n')
}

/** A file as a code block. */
export function fileBlock({ name, text }: FileAttachment): string {
  return `File ${oneLineName(name)}:\n${codeBlock(text, languageOf(name))}`
}

/** A code block. Its fence is longer than any in the text. */
export function codeBlock(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** Without line breaks, controls and back quotes, so that a name stays a name. */
function oneLineName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\u2028\u2029`]+/gu, ' ').trim() || 'file'
}

/** The extension of the name, which renderers know as a language; empty if it is none. */
function languageOf(name: string): string {
  const [, extension = ''] = /\.([A-Za-z0-9]{1,10})$/.exec(name) ?? []
  return extension.toLowerCase() === 'pdf' ? '' : extension.toLowerCase()
}

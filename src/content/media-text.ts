import { Buffer } from 'node:buffer'
import { plainEscapes } from './plain-escapes.ts'

/** Bytes that a caller or a provider sent. */
export interface SentBytes {
  readonly bytes: Uint8Array
  /** Its media type; empty: JSON. */
  readonly contentType: string
}

/** Shorter texts count as text, also with unusual characters. */
const codedLengthMin = 512
/** In members for media, shorter texts are taken for text. */
const mediaLengthMin = 16
const mediaMembers: ReadonlySet<string> = new Set(['data', 'b64_json', 'file_data', 'bytesBase64Encoded'])
const coded = /^[A-Za-z0-9+/_-]+={0,2}$/
const dataUrl =
  /data:([\w.+-]{1,60}\/[\w.+-]{1,60})?(?:;[\w.+-]{1,60}(?:=[\w.+-]{0,60})?){0,4};base64,([A-Za-z0-9+/_-]{16,}={0,2})/g
const numbersMin = 17

/** Size and SHA-256 of media. @param contentType empty: not known */
export function mediaText(bytes: Uint8Array, contentType: string): string {
  return measuredMedia(contentType, bytes.length, new Bun.CryptoHasher('sha256').update(bytes).digest('hex'))
}

/** @param sha256 in hexadecimal */
export function measuredMedia(contentType: string, length: number, sha256: string): string {
  return `[${contentType || 'data'}, ${length} bytes, SHA-256 ${sha256}]`
}

/** The text of a member, with media as size and SHA-256. @param member its name, if it has one */
export function textWithoutMedia(text: string, member = ''): string {
  const lengthMin = mediaMembers.has(member) ? mediaLengthMin : codedLengthMin
  if (text.length >= lengthMin && coded.test(text)) return mediaText(Buffer.from(text, 'base64'), '')
  if (!text.includes(';base64,')) return text
  return text.replace(dataUrl, (_, type: string | undefined, data: string) =>
    mediaText(Buffer.from(data, 'base64'), type ?? ''),
  )
}

/** JSON of a value for readers, with media as size and SHA-256. */
export function jsonWithoutMedia(value: unknown): string {
  const text: string | undefined = JSON.stringify(value, (name, member: unknown) => {
    if (typeof member === 'string') return textWithoutMedia(member, name)
    return Array.isArray(member) && areNumbers(member) ? numbersText(member) : member
  })
  return plainEscapes(text ?? '')
}

/** Whether a list is a vector, or tokens. */
export function areNumbers(list: readonly unknown[]): boolean {
  return list.length >= numbersMin && list.every((item) => typeof item === 'number')
}

/** Stands in place of a list of numbers. */
export function numbersText(list: readonly unknown[]): string {
  return `[${list.length} numbers]`
}

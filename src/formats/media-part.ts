import type { JsonObject } from '../base/json-value.ts'
import type { ContentPart, Detail } from './conversation.ts'
import { untranslatable } from './untranslatable.ts'

/** Facts about the content at a URL. */
interface Linked {
  readonly isFile?: boolean
  readonly filename?: string | undefined
  readonly detail?: Detail
  readonly cacheControl: JsonObject | undefined
}

/**
 * Reads a file: a URL, or the base64 of a PDF.
 *
 * @throws {UpstreamFailure} for a file without data, and for one without a media type
 */
export function readFileData(
  data: string | undefined,
  filename: string | undefined,
  cacheControl: JsonObject | undefined,
): ContentPart {
  if (data === undefined) throw untranslatable('A file that is named only by its id')
  if (/^[a-z]+:/i.test(data)) return readUrl(data, { isFile: true, filename, cacheControl })
  if (filename?.toLowerCase().endsWith('.pdf') !== true) throw untranslatable('A file without a media type')
  return { kind: 'media', mediaType: 'application/pdf', base64: data, filename, detail: undefined, cacheControl }
}

/**
 * Reads content at a URL: media of a `data:` URL, else a link.
 *
 * @throws {UpstreamFailure} for schemes other than data, http, https and gs
 */
export function readUrl(url: string, linked: Linked): ContentPart {
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase()
  if (scheme === 'data') return readDataUrl(url, linked)
  if (scheme === 'http' || scheme === 'https' || scheme === 'gs') {
    const { isFile = false, detail, cacheControl } = linked
    return { kind: 'link', url, isFile, detail, cacheControl }
  }
  throw untranslatable('An address that is neither data: nor http(s):')
}

/** Media type, then parameters, then `base64`, up to the first comma (RFC 2397). */
function readDataUrl(url: string, { filename, detail, cacheControl }: Linked): ContentPart {
  const comma = url.indexOf(',')
  if (comma === -1) throw untranslatable('A data: address without a comma')
  const [type = '', ...parameters] = url
    .slice('data:'.length, comma)
    .split(';')
    .map((field) => field.trim().toLowerCase())
  const payload = url.slice(comma + 1)
  const mediaType = type === '' ? 'text/plain' : type === 'image/jpg' ? 'image/jpeg' : type
  const base64 = parameters.includes('base64') ? payload : percentToBase64(payload)
  return { kind: 'media', mediaType, base64, filename, detail, cacheControl }
}

function percentToBase64(payload: string): string {
  try {
    return Buffer.from(decodeURIComponent(payload)).toString('base64')
  } catch (error) {
    if (error instanceof URIError) throw untranslatable('A data: address with broken percent signs')
    throw error
  }
}

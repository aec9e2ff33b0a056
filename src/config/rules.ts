import type { TextRule } from './fields.ts'

/** `$NAME` as the whole value stands for an environment variable. */
export const variablePattern = /^\$([A-Za-z_][A-Za-z0-9_]*)$/

/** A provider's name: short, safe in headers, logs and addresses. */
export const idRule: TextRule = {
  allowed: 'a name of a-z, 0-9, _ and -, beginning with a letter or digit',
  pattern: /^[a-z0-9][a-z0-9_-]*$/,
  lengthMax: 64,
}

/** A model's name, as clients or the provider call it. */
export const modelNameRule: TextRule = {
  allowed: 'a model name: text without line breaks, spaces at its ends or "*" alone',
  pattern: /^(?!\*$)(?!\s)[^\u0000-\u001f\u007f]+(?<!\s)$/,
  lengthMax: 256,
}

/**
 * An upstream's address. No credentials, query or fragment: the first leaks into logs, the others would be lost when a
 * path is added.
 */
export const baseUrlRule: TextRule = {
  allowed:
    'an http or https URL without user name, query, fragment or "/chat/completions", such as "https://api.example.com/v1", or "$NAME"',
  pattern:
    /^(?:\$[A-Za-z_][A-Za-z0-9_]*|https?:\/\/[^\s/?#@\\]+(?:\/(?!\S*\/chat\/completions\/?$)(?!chat\/completions\/?$)[^\s?#\\]*)?)$/,
  lengthMax: 2048,
}

/** A key as it goes into a header. What begins with `$` is meant as a variable. */
export const apiKeyRule: TextRule = {
  allowed:
    '"$NAME" of an environment variable, or the key itself: visible ASCII without spaces, not beginning with "$"',
  pattern: /^(?:\$[A-Za-z_][A-Za-z0-9_]*|(?!\$)[\u0021-\u007e]+)$/,
  lengthMax: 8192,
}

/** A header's name (RFC 9110 section 5.1). */
export const headerNamePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/

/** A header's value: no line breaks, and `$NAME` only as the whole, because nothing within a text is resolved. */
export const headerValueRule: TextRule = {
  allowed: 'visible ASCII and spaces in one line, or "$NAME" as the whole value',
  pattern:
    /^(?:\$[A-Za-z_][A-Za-z0-9_]*|(?!.*\$\{)(?!\$)(?!.*\s\$[A-Z_][A-Z0-9_]*$)[\u0021-\u007e](?:[\t\u0020-\u007e]*[\u0021-\u007e])?)$/,
  lengthMax: 8192,
}

/**
 * Headers that describe the message or the connection, which are made here for each request (RFC 9110 sections 7.6.1
 * and 8.6).
 */
export const ownHeaders: readonly string[] = [
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'accept-encoding',
  'connection',
  'proxy-connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
]

/** Request fields that are the caller's, or the gateway's to set. */
export const unforcedFields: readonly string[] = ['model', 'messages', 'stream']

/** What a model can take in. */
export const modalities = ['text', 'image', 'audio', 'video', 'file'] as const

/** A day: no timer needs more. */
export const durationMsMax = 86_400_000

/** `base_url` without trailing slashes. @throws {TypeError} when it is no URL */
export function trimUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}

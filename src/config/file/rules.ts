import { oneLine, type TextRule } from '../../base/text-rule.ts'
import type { namedShape } from '../../shapes/containers.ts'
import { textShape } from '../../shapes/shape.ts'

/** `$NAME` of an environment variable, as the whole value. */
export const variablePattern = /^\$([A-Za-z_][A-Za-z0-9_]*)$/

/** Matches `$NAME`, or a value that matches `value` as a whole. */
function variableOr(value: RegExp): RegExp {
  return new RegExp(`^(?:\\$[A-Za-z_][A-Za-z0-9_]*|${value.source})$`)
}

/** The service's name on the page. */
export const serviceNameRule = oneLine(64)

/** The name of an extension, which is that of its folder. */
export const extensionNameRule: TextRule = {
  allowed: 'the name of an extension, such as "provider_auth" or "keys"',
  pattern: /^[a-z][a-z0-9_]*$/,
  lengthMax: 64,
}

/** A provider's id: short, and safe in headers, logs and URLs. */
export const idRule: TextRule = {
  allowed: 'a name of a-z, 0-9, _ and -, beginning with a letter or digit',
  pattern: /^[a-z0-9][a-z0-9_-]*$/,
  lengthMax: 64,
}

/** A model's name, of clients or of the provider. */
export const modelNameRule: TextRule = {
  allowed: 'a model name: text without line breaks, spaces at its ends or "*" alone',
  pattern: /^(?!\*$)(?!\s)[^\u0000-\u001f\u007f]+(?<!\s)$/,
  lengthMax: 256,
}

export const modelName = textShape(modelNameRule)

/** A model's name, or the beginning of names with one `*` at its end. As in grants of keys. */
export const modelPatternRule: TextRule = {
  allowed: 'a name of a model, or the beginning of names and one "*" at its end',
  pattern: /^(?!$)[^\u0000-\u0020\u007f*]*\*?$/,
  lengthMax: 256,
}

/** A person, by name or by id. */
export const personRule: TextRule = {
  allowed: 'a user name without commas and blanks, or "id:VALUE" for a user id, or "id:VALUE@URL" with its provider',
  pattern: /^(?!id:$)[^\s,\u0000-\u001f\u007f]+$/,
  lengthMax: 256,
}

/**
 * A provider's base URL. Credentials would leak into logs; query and fragment would be lost when a path is added.
 */
export const baseUrlRule: TextRule = {
  allowed:
    'an http or https URL without user name, query, fragment or "/chat/completions", ' +
    'such as "https://api.example.com/v1", or "$NAME"',
  pattern: variableOr(
    /https?:\/\/[^\s/?#@\\]+(?:\/(?!\S*\/chat\/completions\/?$)(?!chat\/completions\/?$)[^\s?#\\]*)?/,
  ),
  lengthMax: 2048,
}

const keyFile = /\/[^\u0000-\u001f\u007f]+|(?!\.{1,2}$)[^/\u0000-\u001f\u007f]+/

/** A file with one key. */
export const keyFileRule: TextRule = {
  allowed: 'an absolute path, or a name in the folder of systemd credentials',
  pattern: new RegExp(`^(?:${keyFile.source})$`),
  lengthMax: 4096,
}

/** `$file:PATH`, as the whole value. */
export const keyFilePattern = new RegExp(`^\\$file:(${keyFile.source})$`)

/** An API key that can be sent in a header, `$NAME` of a variable, or `$file:PATH`. */
export const apiKeyRule: TextRule = {
  allowed:
    '"$NAME" of an environment variable, "$file:PATH", or the key itself: visible ASCII without spaces, not ' +
    'beginning with "$"',
  pattern: variableOr(new RegExp(`\\$file:(?:${keyFile.source})|(?!\\$)[\\u0021-\\u007e]+`)),
  lengthMax: 8192,
}

/** The proxy of a provider. A password may be in a variable or a file with the whole address. */
export const proxyRule: TextRule = {
  allowed:
    '"none", an http address such as "http://proxy.example.com:3128" (https would need TLS within TLS), "$NAME" or ' +
    '"$file:PATH"',
  pattern: variableOr(new RegExp(`none|\\$file:(?:${keyFile.source})|http:\\/\\/[^\\s/?#\\\\]+\\/?`)),
  lengthMax: 2048,
}

/** A header's name (RFC 9110 section 5.1). */
export const headerNamePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/

/** A header's value: without line breaks, and `$NAME` only as the whole value, since parts are not resolved. */
export const headerValueRule: TextRule = {
  allowed: 'visible ASCII and spaces in one line, or "$NAME" as the whole value',
  pattern: variableOr(
    /(?!.*\$\{)(?!\$)(?!.*\s\$[A-Z_][A-Z0-9_]*$)[\u0021-\u007e](?:[\t\u0020-\u007e]*[\u0021-\u007e])?/,
  ),
  lengthMax: 8192,
}

/**
 * Headers of the message or the connection, which the service sets for each request (RFC 9110 sections 7.6.1 and 8.6).
 */
export const reservedHeaders: readonly string[] = [
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

/** Request fields that only the caller or the gateway may set. */
const reservedFields: readonly string[] = ['model', 'messages', 'stream']

/** Rules for names of request fields that an owner sets. @param found describes a name that must not be set */
export function refuseReserved(found: string): Parameters<typeof namedShape>[1] {
  return {
    check({ name, node }, faults) {
      if (reservedFields.includes(name))
        faults.add(node, found, `any request field except ${reservedFields.join(', ')}`)
    },
    schema: { not: { enum: [...reservedFields, '__proto__'] } },
  }
}

/** Name of a field that may be sent, or left out. */
export const sentNameRule: TextRule = {
  lengthMax: 256,
  pattern: /^(?!(?:model|messages|stream)$)[^\u0000-\u001f\u007f]+$/,
  allowed: 'the name of a request field, of 1 to 256 characters, except model, messages, stream',
}

/** Modalities of a model's input. */
export const modalities = ['text', 'image', 'audio', 'video', 'file'] as const

/** A day, more than any timer needs. */
export const durationMsMax = 86_400_000

/** Removes trailing slashes of a base URL. @throws {TypeError} for an invalid URL */
export function trimUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}

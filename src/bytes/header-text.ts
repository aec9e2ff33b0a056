/**
 * Text as a header value: visible ASCII and spaces stay, everything else and `%` are percent-encoded as UTF-8. Lone
 * surrogates become U+FFFD.
 */
export function encodeHeaderText(text: string): string {
  return /^[ -$&-~]*$/.test(text) ? text : text.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent)
}

/** Decodes a header value of {@link encodeHeaderText}. A value with a malformed escape is returned unchanged. */
export function decodeHeaderText(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    // Not encoded: an older version or another service wrote it.
    return value
  }
}

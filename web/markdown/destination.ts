/** A classified link destination. */
export type Destination =
  /** A web page or mail address. `address` is ASCII, so look-alike letters are visible. */
  | { readonly kind: 'link'; readonly address: string; readonly host: string }
  /** An image as a data URL. */
  | { readonly kind: 'image'; readonly source: string }
  /** Not allowed: shown as text. */
  | { readonly kind: 'none' }

/**
 * Classifies a destination, given with decoded references. Only http, https, mailto and image data URLs are allowed.
 * Relative addresses have no meaning here.
 */
export function classifyDestination(text: string): Destination {
  if (/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/.test(text))
    return { kind: 'image', source: text }
  // Browsers ignore white space and control characters, so an address with any is refused.
  if (!/^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(text) || !URL.canParse(text)) return { kind: 'none' }
  const url = new URL(text)
  return { kind: 'link', address: url.href, host: url.host }
}

/** Whether the text of a link looks like an address on another host than its destination. */
export function namesAnotherHost(text: string, host: string): boolean {
  const written = text.trim()
  if (!/^(?:https?:\/\/|www\.|[\w.-]+\.(?:com|org|net|gov|edu)(?:[/:?#]|$))/i.test(written)) return false
  const address = /^https?:/i.test(written) ? written : `https://${written}`
  return URL.canParse(address) && withoutWww(new URL(address).host) !== withoutWww(host)
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '')
}

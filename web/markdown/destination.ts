/** Where a link may lead. */
export type Destination =
  /** Another page or a mailbox; `address` is in ASCII, so it looks like what it is. */
  | { readonly kind: 'link'; readonly address: string; readonly host: string }
  /** An image that is wholly in the text. */
  | { readonly kind: 'image'; readonly source: string }
  /** Nowhere: it is shown as text. */
  | { readonly kind: 'none' }

/**
 * Judges a destination as it stands in a text, references decoded. Only what is plainly allowed is a link; relative
 * ones mean nothing here.
 */
export function judgeDestination(text: string): Destination {
  if (/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$/.test(text))
    return { kind: 'image', source: text }
  // A browser reads over white space and control characters, so nothing with any is a link.
  if (!/^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(text) || !URL.canParse(text)) return { kind: 'none' }
  const url = new URL(text)
  return { kind: 'link', address: url.href, host: url.host }
}

/** Whether a link's text looks like an address, but of another host than the link leads to. */
export function namesAnotherHost(text: string, host: string): boolean {
  const written = text.trim()
  if (!/^(?:https?:\/\/|www\.|[\w.-]+\.(?:com|org|net|gov|edu)(?:[/:?#]|$))/i.test(written)) return false
  const address = /^https?:/i.test(written) ? written : `https://${written}`
  return URL.canParse(address) && withoutWww(new URL(address).host) !== withoutWww(host)
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '')
}

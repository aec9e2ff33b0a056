/** An entry of a configuration file that names a person. */
export type PersonEntry =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'id'; readonly userId: string; readonly provider?: string }

/**
 * Parses an entry: a user name, `id:VALUE` for a user id of the identity provider that is configured, or
 * `id:VALUE@URL`, where the URL identifies the provider (docs/limits.md).
 */
export function personEntry(entry: string): PersonEntry {
  if (!entry.startsWith('id:')) return { kind: 'name', name: entry }
  const value = entry.slice('id:'.length)
  const [, userId, provider] = /^(.+)@(https?:\/\/.+)$/.exec(value) ?? []
  return userId === undefined || provider === undefined
    ? { kind: 'id', userId: value }
    : { kind: 'id', userId, provider }
}

/**
 * The id of a person of an identity provider: short, permanent, and unique over all providers.
 *
 * @param provider URL without blanks that identifies it: its issuer, else the URL of its sign-in page
 */
export function personIdAt(provider: string, userId: string): string {
  return Bun.SHA256.hash(`${provider} ${userId}`, 'base64url').slice(0, 22)
}

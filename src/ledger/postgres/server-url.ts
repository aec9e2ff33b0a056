/** The text is no URL of a PostgreSQL database. The message does not repeat the text, which may have a password. */
export class BadServerUrl extends Error {
  override readonly name = 'BadServerUrl'
}

const form = 'allowed: postgres://USER:PASSWORD@HOST:PORT/DATABASE, with ?sslmode=verify-full for TLS that is checked'
const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']

/** Checks the URL of a database. @returns it in normal form @throws {BadServerUrl} */
export function checkServerUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null)
    throw new BadServerUrl(`not a URL (within a password, : / ? # @ % are written %3A %2F %3F %23 %40 %25); ${form}`)
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new BadServerUrl(`another kind of URL; ${form}`)
  if (url.hostname === '') throw new BadServerUrl(`no host; ${form}`)
  if (url.username === '') throw new BadServerUrl(`no user; ${form}`)
  if (!/^\/[^/]+$/.test(url.pathname)) throw new BadServerUrl(`no name of a database after the host; ${form}`)
  if (![url.username, url.password, url.pathname].every(isEncoded))
    throw new BadServerUrl(`the user, the password or the database has a % that is not %25; ${form}`)
  checkSearch(url)
  // Without a mode Bun's client never uses TLS.
  if (!url.searchParams.has('sslmode')) url.searchParams.set('sslmode', 'prefer')
  return url.href
}

function checkSearch({ searchParams, hash }: URL): void {
  const entries = [...searchParams]
  const [name, mode = ''] = entries[0] ?? []
  if (hash !== '' || entries.length > 1 || (name !== undefined && name !== 'sslmode'))
    throw new BadServerUrl(`only ?sslmode= may follow the database; ${form}`)
  if (name !== undefined && !modes.includes(mode)) throw new BadServerUrl(`sslmode allows ${modes.join(', ')}`)
}

function isEncoded(text: string): boolean {
  try {
    return !decodeURIComponent(text).includes('\0')
  } catch {
    // Only a malformed escape makes it throw.
    return false
  }
}

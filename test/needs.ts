import { existsSync } from 'node:fs'

/**
 * What tests run that npm does not bring: where it is looked for, and the Debian package that has it. `npm test`
 * installs these as root on Debian. The headless shell is Chromium without the browser around its pages: it takes a
 * third of the CPU time, and most tests of the page are in it.
 */
export const needed = {
  chromium: {
    package: 'chromium',
    commands: ['chromium', 'chromium-browser', 'google-chrome'],
    instead: 'chromium-headless-shell',
  },
  'chromium-headless-shell': {
    package: 'chromium-headless-shell',
    commands: ['chromium-headless-shell', 'chrome-headless-shell'],
    instead: 'chromium',
  },
  'redis-server': { package: 'redis-server', commands: ['redis-server', 'valkey-server'] },
  libfaketime: { package: 'libfaketime', library: 'faketime/libfaketime.so.1' },
  nginx: { package: 'nginx', commands: ['nginx'] },
  haproxy: { package: 'haproxy', commands: ['haproxy'] },
  caddy: { package: 'caddy', commands: ['caddy'] },
} as const satisfies Readonly<Record<string, Needed>>

/** `instead`: what serves as well where it is missing. */
type Needed = { readonly package: string; readonly instead?: string } & (
  | { readonly commands: readonly string[] }
  | { readonly library: string }
)

const libraryFolders = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/lib',
  '/usr/local/lib',
]

/** Key of {@link needed}. */
export type Need = keyof typeof needed

/**
 * Path of a command, or of a library, that a test needs, or of what serves instead; `undefined` when this machine has
 * neither. The test is then to be skipped, which `npm test` tells of in its last line.
 *
 *     const redisServer = needs('redis-server')
 *     test.skipIf(redisServer === undefined)('…', async () => {…})
 */
export function needs(name: Need): string | undefined {
  const { instead }: Needed = needed[name]
  return find(name) ?? (instead !== undefined && isNeed(instead) ? find(instead) : undefined)
}

/** Every {@link Need} that this machine has neither itself nor in another form. */
export function missing(): readonly Need[] {
  return wanted().filter((name) => needs(name) === undefined)
}

/** Every {@link Need} that this machine does not have itself. */
export function wanted(): readonly Need[] {
  return Object.keys(needed)
    .filter(isNeed)
    .filter((name) => find(name) === undefined)
}

function find(name: Need): string | undefined {
  const need: Needed = needed[name]
  return 'library' in need ? findLibrary(need.library) : findCommand(need.commands)
}

function isNeed(name: string): name is Need {
  return Object.hasOwn(needed, name)
}

/** Servers are in `sbin`, which is not on everybody's path. */
function findCommand(names: readonly string[]): string | undefined {
  const path = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`
  return names.map((name) => Bun.which(name, { PATH: path })).find((found) => found !== null) ?? undefined
}

function findLibrary(name: string): string | undefined {
  return libraryFolders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}

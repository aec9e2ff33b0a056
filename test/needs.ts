import { existsSync, globSync } from 'node:fs'

/**
 * Programs of tests that npm does not install: their commands or files, and their Debian packages, which `npm test`
 * installs as root on Debian. Most tests of the page use the headless shell of Chromium, which takes a third of the CPU
 * time of the whole browser.
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
  postgres: { package: 'postgresql', commands: ['postgres'], folders: '/usr/lib/postgresql/*/bin' },
  pgbouncer: { package: 'pgbouncer', commands: ['pgbouncer'] },
  libfaketime: { package: 'libfaketime', library: 'faketime/libfaketime.so.1' },
  nginx: { package: 'nginx', commands: ['nginx'] },
  haproxy: { package: 'haproxy', commands: ['haproxy'] },
  caddy: { package: 'caddy', commands: ['caddy'] },
  curl: { package: 'curl', commands: ['curl'] },
  squid: { package: 'squid', commands: ['squid'], folders: '/usr/sbin' },
  tinyproxy: { package: 'tinyproxy', commands: ['tinyproxy'] },
  python3: { package: 'python3', commands: ['python3'] },
  prometheus: { package: 'prometheus', commands: ['prometheus'] },
  promtool: { package: 'prometheus', commands: ['promtool'] },
  pip: { package: 'python3-pip', commands: ['pip3', 'pip'] },
} as const satisfies Readonly<Record<string, Needed>>

/** `instead`: an alternative for a missing program. */
type Needed = { readonly package: string; readonly instead?: string } & (
  | { readonly commands: readonly string[]; readonly folders?: string }
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
 * Path of a command or library, or of its alternative; `undefined` when this machine has neither. A test then skips
 * itself; `npm test` counts it in its last line.
 *
 *     const redisServer = needs('redis-server')
 *     test.skipIf(redisServer === undefined)('…', async () => {…})
 */
export function needs(name: Need): string | undefined {
  const { instead }: Needed = needed[name]
  return find(name) ?? (instead !== undefined && isNeed(instead) ? find(instead) : undefined)
}

/** Every {@link Need} that this machine lacks, with its alternative. */
export function missing(): readonly Need[] {
  return wanted().filter((name) => needs(name) === undefined)
}

/** Programs of tests that `npm test` does not install. This machine lacks these. */
export function missingOthers(): readonly string[] {
  return ['helm', 'zsh', 'fish'].filter((name) => Bun.which(name) === null)
}

/** Every {@link Need} that this machine lacks, with or without an alternative. */
export function wanted(): readonly Need[] {
  return Object.keys(needed)
    .filter(isNeed)
    .filter((name) => find(name) === undefined)
}

function find(name: Need): string | undefined {
  const need: Needed = needed[name]
  return 'library' in need ? findLibrary(need.library) : findCommand(need.commands, need.folders)
}

function isNeed(name: string): name is Need {
  return Object.hasOwn(needed, name)
}

/** Finds a command on the path, in the `sbin` folders of servers, or in folders that match a pattern. */
function findCommand(names: readonly string[], folders?: string): string | undefined {
  const more = folders === undefined ? [] : globSync(folders)
  const path = [process.env['PATH'] ?? '', '/usr/local/sbin:/usr/sbin:/sbin', ...more].join(':')
  return names.map((name) => Bun.which(name, { PATH: path })).find((found) => found !== null) ?? undefined
}

function findLibrary(name: string): string | undefined {
  return libraryFolders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}
